"""Brokers that share a store in PostgreSQL, without a loop: tests run what comes to it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty
from struct import pack
from time import monotonic
from typing import TypeVar

import psycopg

from application.ports.log_store import NotInMemory
from domain.cluster.nodes import Node
from domain.errors import StorageFailed
from infrastructure.storage.engine import Joining, Storage
from infrastructure.storage.postgresql.opening import joined
from infrastructure.storage.postgresql.tails import TAIL_BYTES
from infrastructure.storage.repositories.leader_rows import LEADERS
from tests.contract.batches import batch
from tests.fakes.callbacks import Callbacks
from tests.fakes.postgres import Postgres
from tests.fakes.postgres_relay import PostgresRelay

T = TypeVar("T")
#: Long enough for a busy machine; of a broker that is killed the tests wait for the end of it.
SESSION_MS, HEARTBEAT_MS = 600, 100
#: Of brokers that are not to be fenced, however long they are cut off.
LONG_SESSION_MS = 60_000
TIMEOUT_S = 20.0


class JoinedBroker:
    def __init__(self, cluster: JoinedBrokers, node_id: int, folder: object, copies: int) -> None:
        self.node_id = node_id
        self._cluster = cluster
        self.fenced = 0
        #: Tables and keys that others have changed.
        self.followed: list[tuple[str, bytes]] = []
        joining = Joining(
            Node(node_id), "1.0", cluster.session_ms, HEARTBEAT_MS, self._fenced, copies
        )
        place = f"{cluster.user}@/postgres?host={folder}&schema={cluster.schema}{cluster.more}"
        put, tail_bytes = cluster.callbacks.put, cluster.tail_bytes
        self.storage: Storage = cluster.pumped(
            lambda: joined(place, "commit", put, joining, tail_bytes)
        )
        assert self.storage.send_on_loop is not None
        self.storage.send_on_loop(cluster.callbacks)
        for table in ("t", LEADERS):
            self.storage.state.follow(table, self._follower(table))

    def _follower(self, table: str) -> Callable[[object], None]:
        def changed(keys: object) -> None:
            assert isinstance(keys, list)
            self.followed += [(table, key) for key in keys]

        return changed

    def _fenced(self) -> None:
        self.fenced += 1

    def run_until(self, condition: Callable[[], object]) -> None:
        self._cluster.run_until(condition)

    def patiently(self, call: Callable[[], T]) -> T:
        """Repeats it while it raises NotInMemory."""
        while True:
            try:
                return call()
            except NotInMemory as later:
                loaded: list[None] = []
                later.loading.then(loaded.append)
                self.run_until(lambda loaded=loaded: loaded)  # type: ignore[misc]

    def begin(self) -> list[StorageFailed | None]:
        outcomes: list[StorageFailed | None] = []
        self.storage.commit.commit(outcomes.append)
        return outcomes

    def commit(self) -> StorageFailed | None:
        outcomes = self.begin()
        self.run_until(lambda: outcomes)
        [outcome] = outcomes
        return outcome

    def put(self, key: bytes, value: bytes | None, table: str = "t") -> None:
        """A shared row."""
        assert self.storage.cluster_changes is not None
        self.patiently(self.storage.cluster_changes.check)
        self.storage.state.put(table, key, value)

    def lead(self, partition_id: int, leader: int, epoch: int = 1) -> None:
        row = pack(">iiii", leader, epoch, 1, leader)
        self.put(partition_id.to_bytes(4, "big"), row, LEADERS)

    def append(self, partition_id: int, last_offset: int) -> None:
        self.storage.log.append(partition_id, last_offset, batch(last_offset, b"x"))

    def last_offsets(self, partition_id: int) -> list[int]:
        headers = self.patiently(lambda: self.storage.log.headers(partition_id, 0, 1000))
        return [
            int.from_bytes(header[:8], "big") + int.from_bytes(header[23:27], "big")
            for header in headers
        ]

    def brokers(self) -> list[tuple[int, bool]]:
        assert self.storage.membership is not None
        return [(one.node.node_id, one.is_fenced) for one in self.storage.membership.brokers()]

    def announce(self, host: str = "h") -> None:
        assert self.storage.membership is not None
        self.storage.membership.announce(Node(self.node_id, None, {"PLAINTEXT": (host, 9092)}))

    def close(self) -> None:
        self.storage.commit.close()


class JoinedBrokers:
    def __init__(
        self,
        server: Postgres,
        tail_bytes: int = TAIL_BYTES,
        more: str = "",
        session_ms: int = SESSION_MS,
        user: str = "postgres",
    ) -> None:
        """`more`: of the URL."""
        self.server = server
        self.user = user
        self.session_ms = session_ms
        self.tail_bytes = tail_bytes
        self.more = more
        self.schema = f"j{uuid.uuid4().hex[:20]}"
        self.relay = PostgresRelay(server.folder)
        self._all: list[JoinedBroker] = []
        #: Of the loops of all brokers.
        self.callbacks = Callbacks()

    def run_until(self, condition: Callable[[], object]) -> None:
        until = monotonic() + TIMEOUT_S
        while not condition():
            with suppress(Empty):
                self.callbacks.get(timeout=0.05)()
            assert monotonic() < until, "it takes too long"

    def run_for(self, seconds: float) -> None:
        until = monotonic() + seconds
        self.run_until(lambda: monotonic() > until)

    def run_until_over(self, node_id: int) -> None:
        """Until a lease is over for as long as it lasts."""
        past = f"until < clock_timestamp() - {self.session_ms} * interval '1 ms'"
        self.run_until(
            lambda: self.execute(
                f"select 1 from ottla_brokers where node_id = {node_id} and {past}"
            )
        )

    def has_lease(self, node_id: int) -> bool:
        living = f"node_id = {node_id} and until > clock_timestamp()"
        return bool(self.execute(f"select 1 from ottla_brokers where {living}"))

    def connected(self) -> psycopg.Connection:
        """Of no broker."""
        return psycopg.connect(
            host=str(self.server.folder),
            user="postgres",
            dbname="postgres",
            options=f"-c search_path={self.schema}",
        )

    @contextmanager
    def silent(self, node_id: int) -> Iterator[None]:
        """Meanwhile a broker cannot renew its lease, nor see those of others."""
        with self.connected() as holding:
            row = f"select until from ottla_brokers where node_id = {node_id}"
            holding.execute(f"{row} for update".encode())
            yield
            holding.rollback()

    def pumped(self, call: Callable[[], T]) -> T:
        """In a thread, while the loops of the others run."""
        with ThreadPoolExecutor(1) as thread:
            result = thread.submit(call)
            self.run_until(result.done)
            return result.result()

    def join(self, node_id: int, through_relay: bool = False, copies: int = 0) -> JoinedBroker:
        """`copies`: as the operator says."""
        folder = self.relay.folder if through_relay else self.server.folder
        broker = JoinedBroker(self, node_id, folder, copies)
        self._all.append(broker)
        return broker

    def execute(self, *statements: str) -> list[tuple[object, ...]]:
        return self.server.execute(f"set search_path = {self.schema}", *statements)

    def close(self) -> None:
        self.relay.pass_all()
        self.relay.cut()
        for broker in self._all:
            broker.close()
        self.relay.close()
