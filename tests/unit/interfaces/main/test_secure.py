from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from domain.security.scram import ScramMechanism
from domain.topics.topic import Topic
from infrastructure.opening import open_storage
from infrastructure.security.authority import BROKER, CLIENT, FOLDER, certificates_of
from infrastructure.security.password_hashing import credentials_of, is_password_of_any
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from infrastructure.storage.repositories.user_repository import StoredUserRepository
from interfaces.main.secure import first_steps, secure
from interfaces.main.settings.origin import Given, SettingsError
from interfaces.main.settings.secured import ADMIN
from interfaces.main.settings.sources import Settings, load_settings


def settings_of(folder: Path, **given: str) -> Settings:
    named = {"log.dirs": str(folder)} | {name.replace("_", "."): given[name] for name in given}
    return load_settings({name: Given(text, "test") for name, text in named.items()}, {})


def test_an_empty_folder_gets_a_certificate_an_admin_and_settings(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    password = secure(settings_of(folder, listeners="broker.example:9093"))
    assert password is not None
    [certificate] = certificates_of(folder / FOLDER / BROKER)
    assert {"localhost", "broker.example"} <= set(certificate.names)
    storage = open_storage(f"lmdb://{folder}", read_only=True)
    with closing(storage.commit):
        credentials = StoredUserRepository(storage.state).load()[ADMIN]
    assert set(credentials) == set(ScramMechanism)
    for credential in credentials.values():
        assert is_password_of_any(password, [credential])
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder / FOLDER).iterdir()}
    assert {name for name, mode in modes.items() if mode != 0o600} == {"ca.pem"}
    assert password in (folder / FOLDER / CLIENT).read_text()
    assert "localhost:9092" in first_steps(settings_of(folder), password)
    assert secure(settings_of(folder)) is None


def test_a_start_that_was_interrupted_begins_again(tmp_path: Path) -> None:
    first = secure(settings_of(tmp_path))
    certificate = (tmp_path / FOLDER / BROKER).read_bytes()
    (tmp_path / FOLDER / "broker.properties").unlink()
    assert secure(settings_of(tmp_path)) not in (None, first)
    assert (tmp_path / FOLDER / BROKER).read_bytes() == certificate


def test_a_folder_with_topics_is_refused_and_not_changed(tmp_path: Path) -> None:
    storage = open_storage(f"lmdb://{tmp_path}")
    with closing(storage.commit):
        StoredTopicRepository(storage.log, storage.state).save(Topic("orders", bytes(16), (0,), {}))
        storage.commit.commit(lambda failure: None)
    with pytest.raises(SettingsError, match="is for an empty data folder"):
        secure(settings_of(tmp_path))
    assert not (tmp_path / FOLDER).exists()


def test_a_user_that_is_there_keeps_the_password(tmp_path: Path) -> None:
    storage = open_storage(f"lmdb://{tmp_path}")
    with closing(storage.commit):
        StoredUserRepository(storage.state).save(ADMIN, credentials_of("chosen before"))
        storage.commit.commit(lambda failure: None)
    with pytest.raises(SettingsError, match="has users: "):
        secure(settings_of(tmp_path))
    storage = open_storage(f"lmdb://{tmp_path}", read_only=True)
    with closing(storage.commit):
        credentials = StoredUserRepository(storage.state).load()[ADMIN]
    assert is_password_of_any("chosen before", [*credentials.values()])
    assert not (tmp_path / FOLDER).exists()


def test_memory_is_refused() -> None:
    with pytest.raises(SettingsError, match="needs a data folder"):
        secure(settings_of(Path("unused"), storage="memory://"))


def test_a_folder_that_a_broker_uses_is_refused_in_one_line(tmp_path: Path) -> None:
    storage = open_storage(f"lmdb://{tmp_path}")
    with closing(storage.commit), pytest.raises(SettingsError, match=r"--secure: .*in use"):
        secure(settings_of(tmp_path))
