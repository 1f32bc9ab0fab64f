from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from infrastructure.storage.postgresql import commit, dropping, moving, sealing, session, tails
from tests.contract.engines import ENGINES, Engine, OpenStore
from tests.contract.joined_brokers import LONG_SESSION_MS, JoinedBrokers
from tests.contract.offset_engines import PostgresOffsets, SqliteOffsets
from tests.contract.postgres_server import running_postgres
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore
from tests.contract.s3_objects import ALL_SEALED, Objects
from tests.contract.s3_server import S3_SERVERS, running_s3
from tests.contract.tiny_tails import TINY
from tests.fakes.postgres import Postgres
from tests.fakes.s3 import S3Server

#: Files on logs and commits: over all engines, with each flush policy, each way to read.
OF_LOGS = {
    *("test_commit", "test_log_store", "test_partition_repository", "test_recovered_transactions"),
    *("test_replacing", "test_state_store", "test_topic_repository", "test_trimming"),
}
#: The others have rows only: over each implementation of StateStore.
STATE_STORES = ("memory", "lmdb-commit", "files-commit", "postgresql")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    is_of_logs = metafunc.module.__name__.rpartition(".")[2] in OF_LOGS
    for fixture in {"engine", "lasting_engine"} & set(metafunc.fixturenames):
        if hasattr(metafunc.module, fixture):
            continue  # it has others
        chosen = {
            name: engine
            for name, engine in ENGINES.items()
            if (is_of_logs or name in STATE_STORES) and (fixture == "engine" or engine.persistent)
        }
        metafunc.parametrize(fixture, chosen.values(), ids=chosen.keys(), indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def lasting_engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def store(engine: Engine, tmp_path: Path) -> Iterator[OpenStore]:
    opened = OpenStore(engine, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def lasting_store(lasting_engine: Engine, tmp_path: Path) -> Iterator[OpenStore]:
    """Of engines that persist: the store is closed and opened again."""
    opened = OpenStore(lasting_engine, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteOffsets]:
    opened = SqliteOffsets(tmp_path)
    opened.load()
    yield opened
    opened.close()


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[PostgresOffsets]:
    opened = PostgresOffsets(tmp_path)
    opened.load()
    yield opened
    opened.close()


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """The server of this process with an empty database; it may be stopped."""
    server = running_postgres()
    server.execute(
        "DROP SCHEMA public CASCADE",
        "CREATE SCHEMA public",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
        "DROP ROLE IF EXISTS guest",
    )
    yield server
    if not server.is_running:
        server.start()


@pytest.fixture(
    params=[
        "later",
        pytest.param("in_thread", marks=pytest.mark.long),
        pytest.param("waits", marks=pytest.mark.long),
    ]
)
def relayed(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RelayedPostgres]:
    """Stores of a broker (`later`; `in_thread`: whose thread sends all commits), and of a command
    that waits for each commit and read.
    """
    monkeypatch.setattr(session, "RETRY_S", 0.01)
    is_later, has_sockets = request.param != "waits", request.param == "later"
    relayed = RelayedPostgres(running_postgres(), is_later, has_sockets)
    yield relayed
    relayed.close()


@pytest.fixture
def opened(relayed: RelayedPostgres) -> RelayedStore:
    """With one batch; its statements are prepared."""
    store = relayed.open()
    store.keep(0)
    store.prepare()
    return store


@pytest.fixture
def objects(s3: S3Server, at_once: None, monkeypatch: pytest.MonkeyPatch) -> Objects:
    """Nothing is written anew unless a test wants it."""
    monkeypatch.setattr(sealing, "RETRY_S", 0)
    monkeypatch.setattr(tails, "_DEAD_TAILS", 1 << 30)
    return Objects(s3)


@pytest.fixture
def sealed(relayed: RelayedPostgres, objects: Objects) -> RelayedStore:
    """Offsets 0 to 3, each in an object of its own."""
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{ALL_SEALED}")
    store.keep(0, 1, 2, 3)
    store.keep_up()
    return store


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is dead by half is moved, one entry at a time; what failed is tried again."""
    monkeypatch.setattr(tails, "_DEAD_TAILS", 0)
    monkeypatch.setattr(moving, "MOVED_BYTES", 1)
    monkeypatch.setattr(dropping, "RETRY_S", 0)
    monkeypatch.setattr(commit, "RETRY_S", 0)


@pytest.fixture(params=S3_SERVERS)
def s3(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """Its address and credentials are in the environment."""
    server = running_s3(request.param)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server


@pytest.fixture
def cluster() -> Iterator[JoinedBrokers]:
    with closing(JoinedBrokers(running_postgres())) as cluster:
        yield cluster


@pytest.fixture
def patient() -> Iterator[JoinedBrokers]:
    """No lease is over while a test runs."""
    with closing(JoinedBrokers(running_postgres(), session_ms=LONG_SESSION_MS)) as patient:
        yield patient
