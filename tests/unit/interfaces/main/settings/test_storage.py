from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.main.settings.origin import COMMAND_LINE, Given, SettingsError
from interfaces.main.settings.sources import Settings, load_settings


def load(storage: str = "lmdb:///var/ottla", **values: str) -> Settings:
    values["storage"] = storage
    return load_settings({name: Given(text, COMMAND_LINE) for name, text in values.items()}, {})


@pytest.mark.parametrize(
    ("storage", "offsets", "url"),
    [
        # Beside the records
        ("memory://", None, None),
        ("memory://", "memory://", None),
        ("lmdb:///var/ottla", None, None),
        ("lmdb:///var/ottla", "lmdb://", None),
        # In a store of their own
        ("lmdb:///var/ottla", "memory://", "memory://"),
        ("lmdb:///var/ottla", "sqlite://", "sqlite:///var/ottla/offsets.db"),
        ("lmdb:///var/ottla", " sqlite:///srv/o.db ", "sqlite:///srv/o.db"),
        ("lmdb:///var/ottla", "postgresql://host/db", "postgresql://host/db"),
    ],
)
def test_the_store_of_committed_offsets(storage: str, offsets: str | None, url: str | None) -> None:
    found = load(storage, **({} if offsets is None else {"offsets": offsets})).offsets
    assert (found.url, found.shown) == (url, url)


def test_sqlite_without_a_path_is_a_file_beside_the_data(tmp_path: Path) -> None:
    found = load("lmdb://", **{"log.dirs": str(tmp_path)}, offsets="sqlite://").offsets
    assert found.url == f"sqlite://{tmp_path}/offsets.db"


@pytest.mark.parametrize(
    "password, rest",
    [
        ("hunter2", "@db.example:5433/offsets?sslmode=require"),
        ("hun%40%2Fter:2", "@host/db?host=%2Frun%2Fa%40b"),
    ],
)
def test_a_password_is_never_shown(password: str, rest: str) -> None:
    url = f"postgresql://me:{password}{rest}&password="
    offsets = load(offsets=f"{url}{password}").offsets
    assert offsets.url == f"{url}{password}"
    assert offsets.shown == f"postgresql://me:***{rest}&password=***"


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
