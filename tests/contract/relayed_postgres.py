"""Stores in PostgreSQL behind a relay, for tests of lost connections."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

import psycopg
from psycopg import generators

from domain.errors import StorageFailed
from domain.messages.batch import next_offset
from infrastructure.storage.engine import Storage
from infrastructure.storage.postgresql import session
from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.loop_commits import LoopCommits
from infrastructure.storage.postgresql.opening import opened
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.sending import sent
from infrastructure.storage.postgresql.session import PATIENCE_S
from infrastructure.storage.postgresql.statement import statement_of
from infrastructure.storage.postgresql.tails import TAIL_BYTES
from tests.contract.batches import batch
from tests.fakes.callbacks import Callbacks
from tests.fakes.patience import patiently
from tests.fakes.postgres import Postgres
from tests.fakes.postgres_relay import TIMEOUT_S, PostgresRelay

T = TypeVar("T")


class Running:
    """A commit under way."""

    def __init__(self, store: RelayedStore) -> None:
        self._outcomes: SimpleQueue[StorageFailed | None] = SimpleQueue()
        self._store = store
        self._thread: threading.Thread | None = None
        commit = store.storage.commit.commit
        if store.is_later:
            commit(self._outcomes.put)
        else:
            self._thread = threading.Thread(target=commit, args=(self._outcomes.put,), daemon=True)
            self._thread.start()

    def outcome(self) -> StorageFailed | None:
        """Asserts that there is one only."""
        if self._thread is None:
            while self._outcomes.empty():
                self._store.callbacks.get(timeout=TIMEOUT_S)()
        found = self._outcomes.get(timeout=TIMEOUT_S)
        if self._thread is not None:
            self._thread.join(TIMEOUT_S)
        assert self._outcomes.empty()
        return found

    @property
    def is_over(self) -> bool:
        while not self._store.callbacks.empty():
            self._store.callbacks.get()()
        return not self._outcomes.empty()


class RelayedStore:
    def __init__(self, storage: Storage, callbacks: Callbacks | None) -> None:
        self.storage = storage
        self.is_later = callbacks is not None
        self.callbacks = callbacks or Callbacks()

    def append(self, last_offset: int, content: bytes = b"") -> None:
        """With a row, so that all statements are alike."""
        self.storage.log.append(1, last_offset, batch(last_offset, content))
        self.storage.state.put("t", b"%d" % last_offset, content)

    def begin(self) -> Running:
        return Running(self)

    def commit(self) -> StorageFailed | None:
        return self.begin().outcome()

    def keep(self, *last_offsets: int) -> None:
        for one in last_offsets:
            self.append(one)
            assert self.commit() is None

    def prepare(self) -> None:
        """The statement of a commit with the next batch, without any change."""
        contents = self.storage.log._contents
        self.append(1)
        staged = contents.end_pass()
        plan = Plan(contents.runs, contents.ends, contents.tails.current)
        plan.take(staged)
        connection = self.storage.commit._session._link.connection
        assert connection is not None
        statement, values = statement_of(staged, plan, Fence(session.ALONE, 0, 0, "(0,1)"))
        assert sent(connection, statement, values) is None
        contents.failed()
        loop_commits = self.loop_commits
        if loop_commits is not None:
            loop_commits._connection = connection
            *before, _ = loop_commits._steps_of(connection, statement, values)
            for step in before:
                step()
                connection.wait(generators.fetch_many(connection.pgconn))

    @property
    def loop_commits(self) -> LoopCommits | None:
        found: LoopCommits | None = self.storage.commit._loop_commits
        return found

    def keep_up(self) -> None:
        """Until new tails are there, entries moved and tails dropped."""
        while self.storage.commit.is_keeping_up:
            self.callbacks.get(timeout=TIMEOUT_S)()

    def trim(self, offset: int) -> None:
        while not self.patiently(lambda: self.storage.log.trim(1, offset, 100)).done:
            pass
        for one in range(offset):
            self.storage.state.put("t", b"%d" % one, None)

    def patiently(self, read: Callable[[], T]) -> T:
        return patiently(read, self.callbacks, attempts=100)

    def read(self, offset: int = 0) -> bytes:
        """What the server has."""
        self.storage.log._contents.cache.clear()
        return self.patiently(lambda: self.storage.log.read(1, offset, 1 << 62, 1 << 62, True))

    def read_all(self) -> bytes:
        """By as many reads as it takes."""
        read = piece = self.read()
        while piece:
            piece = self.read(next_offset(read))
            read += piece
        return read

    def close(self) -> None:
        self.storage.commit.close()


class RelayedPostgres:
    """One schema of a server. Stores of `later` have a way to an event loop, which sends commits
    unless they are to be left to the thread.
    """

    def __init__(self, server: Postgres, is_later: bool, has_sockets: bool = True) -> None:
        self.server = server
        self.relay = PostgresRelay(server.folder)
        self.schema = f"r{uuid.uuid4().hex[:20]}"
        self._is_later, self._has_sockets = is_later, has_sockets
        self._stores: list[RelayedStore] = []

    def open(
        self,
        patience_s: float = PATIENCE_S,
        through_relay: bool = True,
        tail_bytes: int = TAIL_BYTES,
        more: str = "",
    ) -> RelayedStore:
        """`more`: of the URL."""
        folder = self.relay.folder if through_relay else self.server.folder
        callbacks = Callbacks() if self._is_later else None
        place = f"postgres@/postgres?host={folder}&schema={self.schema}{more}"
        put = callbacks.put if callbacks is not None else None
        storage = opened(place, "commit", put, patience_s, tail_bytes=tail_bytes)
        if callbacks is not None and self._has_sockets:
            assert storage.send_on_loop is not None
            storage.send_on_loop(callbacks)
        store = RelayedStore(storage, callbacks)
        self._stores.append(store)
        return store

    def execute(self, *statements: str) -> list[tuple[object, ...]]:
        return self.server.execute(f"set search_path = {self.schema}", *statements)

    def connected(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=str(self.server.folder),
            user="postgres",
            dbname="postgres",
            options=f"-csearch_path={self.schema}",
            autocommit=True,
        )

    def last_offsets(self) -> list[int]:
        """Of the batches in the store, by SQL. Those that are there must have a row."""
        offsets = [last_offset for last_offset, _ in self.entries()]
        rows = self.execute(
            "select convert_from(place, 'UTF8')::int from ottla_rows"
            " where value is not null order by 1"
        )
        assert [one for (one,) in rows] == list(dict.fromkeys(offsets))
        return offsets

    def entries(self, partition_id: int = 1) -> list[tuple[int, bytes]]:
        """Last offsets and batches that are in the runs of a log."""
        runs = self.execute(
            "select tail, first_offset, lead(first_offset, 1, 1::bigint << 62) over"
            f" (order by first_offset) from ottla_runs where partition_id = {partition_id}"
        )
        entries: list[tuple[int, bytes]] = []
        for tail, first_offset, end_offset in runs:
            for last_offset, data in self.execute(
                f"select last_offset, data from ottla_tail_{tail} where partition_id ="
                f" {partition_id} and last_offset >= {first_offset}"
                f" and last_offset < {end_offset} order by last_offset"
            ):
                assert isinstance(last_offset, int) and isinstance(data, bytes)
                assert next_offset(data) == last_offset + 1
                entries.append((last_offset, data))
        return entries

    def tails(self) -> list[int]:
        """By the catalogue, and as the store has them."""
        tables = self.execute(
            "select substr(relname, 12)::int from pg_class where relkind = 'r'"
            f" and relname ~ '^ottla_tail_' and relnamespace = '{self.schema}'::regnamespace"
            " order by 1"
        )
        assert tables == self.execute("select n from ottla_tails where object is null order by 1")
        assert (
            self.execute("select from ottla_fences where tail not in (select n from ottla_tails)")
            == []
        )
        assert (
            self.execute("select from ottla_runs where tail not in (select n from ottla_tails)")
            == []
        )
        numbers = [number for (number,) in tables]
        assert all(isinstance(one, int) for one in numbers)
        return numbers  # type: ignore[return-value]

    def objects(self) -> list[str]:
        """That are in use, in order."""
        found = self.execute(
            "select object from ottla_tails where object is not null and deleted is null order by n"
        )
        return [str(name) for (name,) in found]

    def last_session(self) -> tuple[object, ...]:
        [row] = self.execute("select session, seq from ottla_fences")
        return row

    def close(self) -> None:
        self.relay.pass_all()
        self.relay.cut()
        for store in self._stores:
            store.close()
        self.relay.close()
        if not self.server.is_running:
            self.server.start()


class Held:
    """Statements that write the store wait for this transaction."""

    def __init__(self, postgres: RelayedPostgres) -> None:
        self._connection = psycopg.connect(
            host=str(postgres.server.folder), user="postgres", dbname="postgres"
        )
        self._connection.execute(f"set search_path = {postgres.schema}".encode())
        self._connection.execute("select * from ottla_fences for update")

    def release(self) -> None:
        self._connection.close()


def wait_for_waiting(
    postgres: RelayedPostgres, statements: int, running: Running | None = None
) -> None:
    """Until so many wait for others to end; `running`: among them a commit, in several steps."""
    with psycopg.connect(
        host=str(postgres.server.folder), user="postgres", dbname="postgres", autocommit=True
    ) as asking:
        waiting = 0
        while waiting < statements:
            assert running is None or not running.is_over
            [(waiting,)] = asking.execute(
                "select count(distinct pid) from pg_locks where not granted"
            ).fetchall()


class Taking:
    """Another broker's transaction that takes the session; `commit` ends it."""

    def __init__(self, postgres: RelayedPostgres) -> None:
        [(self._session, _)] = postgres.execute("select session, seq from ottla_fences")
        self._connection = psycopg.connect(
            host=str(postgres.server.folder), user="postgres", dbname="postgres"
        )
        self._connection.execute(f"set search_path = {postgres.schema}".encode())

    def take(self) -> None:
        self._connection.execute(
            session._TAKE, {"node": session.ALONE, "own": [self._session], "new": 7}
        )

    def commit(self) -> None:
        self._connection.commit()
        self._connection.close()

    def take_and_commit(self) -> None:
        self.take()
        self.commit()


def held_commit(
    relayed: RelayedPostgres, opened: RelayedStore, last_offset: int = 1
) -> tuple[Held, Running]:
    """A commit whose statement waits in the server."""
    held = Held(relayed)
    opened.append(last_offset)
    running = opened.begin()
    wait_for_waiting(relayed, 1, running)
    return held, running
