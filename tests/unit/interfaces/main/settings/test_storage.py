from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.main.settings.origin import COMMAND_LINE, Given, SettingsError
from interfaces.main.settings.sources import Settings, load_settings


def load(storage: str = "lmdb:///var/ottla", **given: str) -> Settings:
    given["storage"] = storage
    return load_settings({name: Given(text, COMMAND_LINE) for name, text in given.items()}, {})


@pytest.mark.parametrize("storage", ["memory://", "lmdb:///var/ottla"])
def test_committed_offsets_are_beside_the_records(storage: str) -> None:
    offsets = load(storage).offsets
    assert (offsets.url, offsets.shown) == (None, None)
    same = load(storage, offsets=storage.partition("://")[0] + "://").offsets
    assert (same.url, same.shown) == (None, None)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("memory://", "memory://"),
        ("sqlite://", "sqlite:///var/ottla/offsets.db"),
        (" sqlite:///srv/o.db ", "sqlite:///srv/o.db"),
        ("postgresql://host/db", "postgresql://host/db"),
    ],
)
def test_offsets_may_have_a_store_of_their_own(given: str, url: str) -> None:
    offsets = load(offsets=given).offsets
    assert (offsets.url, offsets.shown) == (url, url)


def test_sqlite_without_a_path_is_a_file_beside_the_data(tmp_path: Path) -> None:
    given = {"log.dirs": str(tmp_path), "offsets": "sqlite://"}
    settings = load_settings({name: Given(text, COMMAND_LINE) for name, text in given.items()}, {})
    assert settings.offsets.url == f"sqlite://{tmp_path}/offsets.db"


def test_a_password_is_never_shown() -> None:
    url = "postgresql://me:hunter2@db.example:5433/offsets?sslmode=require&password=hunter2"
    offsets = load(offsets=url).offsets
    assert offsets.url == url
    assert (
        offsets.shown == "postgresql://me:***@db.example:5433/offsets?sslmode=require&password=***"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        "", "x", "memory://x", "lmdb:///elsewhere", "sqlite:/x", "sqlite://relative",
        "mysql://host/db", "postgresql://",
    ],
)  # fmt: skip
def test_an_invalid_offset_store_is_refused(wrong: str) -> None:
    with pytest.raises(SettingsError) as failure:
        load(offsets=wrong)
    assert str(failure.value) == (
        f"offsets = '{wrong}' (command line) is not allowed: expected memory://, lmdb:// (with "
        "the records), sqlite:// (in the data folder), sqlite:///a/file, or "
        "postgresql://user@host/database"
    )


@pytest.mark.parametrize("secret", ["hun@ter", "12/hunter", "1?hunter", "1#hunter", "@hunter"])
def test_an_ambiguous_password_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(SettingsError) as failure:
        load(offsets=f"postgresql://me:{secret}@host/db")
    assert "hun" not in str(failure.value)
    assert "write them as %40" in str(failure.value)


def test_a_percent_encoded_password_is_accepted() -> None:
    url = "postgresql://me:hun%40%2Fter:2@host/db?host=%2Frun%2Fa%40b"
    assert load(offsets=url).offsets.shown == "postgresql://me:***@host/db?host=%2Frun%2Fa%40b"


def test_an_error_does_not_show_the_password() -> None:
    with pytest.raises(SettingsError) as failure:
        load(offsets="postgresql://me:hunter2@host:port/db")
    assert str(failure.value).startswith("offsets = 'postgresql://me:***@host:port/db' (command")


@pytest.mark.parametrize(
    "lasting", ["lmdb://", "sqlite://", "sqlite:///srv/o.db", "postgresql://me:hunter2@host/db"]
)
def test_offsets_do_not_outlive_their_records(lasting: str) -> None:
    with pytest.raises(SettingsError) as failure:
        load("memory://", offsets=lasting)
    assert str(failure.value) == (
        "offsets (command line) is not allowed with storage = memory://: the offsets would "
        "outlive the records"
    )
