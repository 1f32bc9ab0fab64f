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
        "mysql://host/db", "postgresql://", "postgresql://me@h1:1,h2:2/db",
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


# ---- records in PostgreSQL

POSTGRESQL = "postgresql://me:hunter2@host/db?schema=one"
SHOWN = "postgresql://me:***@host/db?schema=one"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me@host/db",
        "postgresql://h1:5432,h2:5433/db?target_session_attrs=read-write",
        "postgresql://[::1]:5432/db",
        "postgresql:///db?host=/run/postgresql&sslmode=require",
    ],
)
def test_records_may_be_in_a_database(url: str) -> None:
    settings = load(f" {url} ")
    assert (settings.storage.engine, settings.storage.url) == ("postgresql", url)
    assert settings.storage.folder is None
    assert (settings.storage.in_database, settings.storage.in_memory) == (True, False)
    assert (settings.offsets.url, settings.offsets.shown) == (None, None)


def test_the_password_of_the_storage_is_not_shown() -> None:
    storage = load(POSTGRESQL).storage
    assert (storage.url, storage.shown) == (POSTGRESQL, SHOWN)


def test_other_storages_are_shown_as_they_are() -> None:
    for url in ("memory://", "lmdb:///a@b/c", "files:///a"):
        storage = load(url).storage
        assert storage.url == storage.shown == url
        assert storage.in_memory == (url == "memory://")
        assert not storage.in_database


@pytest.mark.parametrize(
    "wrong, shown",
    [
        ("postgresql://", "postgresql://"),
        ("postgres://me:hunter2@host/db", "postgres://me:***@host/db"),
        ("postgresql://me:hunter2@host:port/db", "postgresql://me:***@host:port/db"),
        ("postgresql://me:hunter2@h1:1,h2:x/db", "postgresql://me:***@h1:1,h2:x/db"),
    ],
)
def test_a_storage_that_is_not_allowed_is_refused_without_password(wrong: str, shown: str) -> None:
    with pytest.raises(SettingsError) as failure:
        load(wrong)
    assert str(failure.value) == (
        f"storage = '{shown}' (command line) is not allowed: expected memory://, lmdb:// or "
        "files:// (in the data folder), lmdb:///a/folder, files:///a/folder, or "
        "postgresql://user@host/database"
    )


@pytest.mark.parametrize("secret", ["hun@ter", "12/hunter", "1?hunter", "1#hunter", "@hunter"])
def test_an_ambiguous_password_of_the_storage_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(SettingsError) as failure:
        load(f"postgresql://me:{secret}@host/db")
    assert "hun" not in str(failure.value)
    assert "write them as %40" in str(failure.value)


@pytest.mark.parametrize(
    "offsets",
    ["memory://", "lmdb://", "sqlite://", "sqlite:///srv/o.db", POSTGRESQL, "postgresql://host/o"],
)
def test_offsets_are_in_the_database_of_the_records(offsets: str) -> None:
    with pytest.raises(SettingsError) as failure:
        load(POSTGRESQL, offsets=offsets)
    assert str(failure.value) == (
        f"offsets (command line) is not allowed with storage = {SHOWN}: the offsets are in the "
        "same database as the records: unset offsets"
    )


def test_the_offsets_topic_is_on_in_a_database() -> None:
    assert load(POSTGRESQL).broker.offsets_topic == "on"


@pytest.mark.parametrize(
    "name, text, why",
    [
        ("testing", "true", "it has no snapshots"),
        ("log.dirs", "/var/ottla", "all data is in the database"),
        ("offsets.topic", "off", "brokers find the coordinators of groups by the topic"),
    ],
)
def test_what_a_database_cannot_do_is_refused(name: str, text: str, why: str) -> None:
    with pytest.raises(SettingsError) as failure:
        load(POSTGRESQL, **{name: text})
    assert str(failure.value) == (
        f"{name} (command line) is not allowed with storage = {SHOWN}: {why}"
    )


HEARTBEAT, SESSION = "broker.heartbeat.interval.ms", "broker.session.timeout.ms"


@pytest.mark.parametrize(
    "given, refusal",
    [
        (
            {HEARTBEAT: "3001"},
            f"{HEARTBEAT} = '3001' (command line) is not allowed: expected at most half of "
            f"{SESSION} = 6000 (default)",
        ),
        (
            {SESSION: "2999"},
            f"{HEARTBEAT} = '1500' (default) is not allowed: expected at most half of "
            f"{SESSION} = 2999 (command line)",
        ),
    ],
)
def test_a_broker_must_report_twice_in_its_session_timeout(
    given: dict[str, str], refusal: str
) -> None:
    with pytest.raises(SettingsError) as failure:
        load(POSTGRESQL, **given)
    assert str(failure.value) == refusal
    load("memory://", **given)  # they have no effect there


@pytest.mark.parametrize("given", [{HEARTBEAT: "3000"}, {SESSION: "3000"}])
def test_half_of_the_session_timeout_is_enough(given: dict[str, str]) -> None:
    load(POSTGRESQL, **given)


def test_a_data_folder_of_a_file_is_not_used_beside_a_database(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(f"log.dirs={tmp_path}\nstorage={POSTGRESQL}\n")
    assert load_settings({}, {}, file).storage.folder is None
