"""Brokers in this process, wired by the product's container.

InProcessBroker is the real broker over any engine, but its loop is run by hand.
FakeBroker has the memory engine, and a clock, commits and reads that tests control.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from application.ports.clock import Clock
from application.ports.cluster_changes import ClusterChanges
from application.ports.log_store import Buffer, IndexEntry, NotInMemory, Trimmed
from application.ports.offset_repository import OffsetRepository
from application.ports.pending import Pending
from application.ports.state_store import StateStore
from application.topics.create import NewTopic
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError, StorageFailed
from domain.partitions.appended import Appended
from domain.partitions.partition import Partition
from domain.topics.topic import Topic
from infrastructure.clock import SystemClock
from infrastructure.opening import open_storage
from infrastructure.security.authorizer import OpenAuthorizer
from infrastructure.storage.engine import Storage, StorageInfo
from infrastructure.storage.flush import Flush
from infrastructure.storage.memory.log_store import MemoryLogStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.repositories.offset_repository import StoredOffsetRepository
from interfaces.main.container.core import Core
from interfaces.main.container.services import make_broker
from tests.fakes.clock import FakeClock
from tests.fakes.cluster_changes import FakeChanges, GuardedState
from tests.fakes.commit import FakeCommit
from tests.fakes.copies import FakeCopies
from tests.fakes.logs import FakeEventLog
from tests.fakes.placement import FakePlacement
from tests.fakes.reserve import FakeReserve
from tests.fakes.scheduler import FakeScheduler

READS = ("read", "headers")


class FlakyLogStore(MemoryLogStore):
    """Reads fail while `failing` is set, and raise NotInMemory while `loading` is set.

    `awaited` has the calls that raise it.
    """

    __slots__ = ("awaited", "failing", "loading", "loading_of")

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.failing: StorageFailed | None = None
        self.loading: Pending[None] | None = None
        #: None: any partition.
        self.loading_of: int | None = None
        self.awaited: tuple[str, ...] = READS

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        self._check_loaded("read", partition_id)
        self._check()
        return super().read(partition_id, offset, end_offset, max_bytes, whole_first)

    def read_to(
        self,
        partition_id: int,
        offset: int,
        end_offset: int,
        max_bytes: int,
        whole_first: bool,
        loads: bool = True,
    ) -> tuple[bytes, int]:
        if not loads and not self._is_loaded("read", partition_id):
            return b"", offset
        return super().read_to(partition_id, offset, end_offset, max_bytes, whole_first)

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        self._check()
        if not waits:
            self._check_loaded("headers", partition_id)
        return super().headers(partition_id, offset, limit, waits)

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        self._check_loaded("at_timestamp", partition_id)
        return super().at_timestamp(partition_id, timestamp)

    def copy_before(self, partition_id: int, offset: int) -> bool:
        self._check_loaded("copy_before", partition_id)
        return super().copy_before(partition_id, offset)

    def replace(
        self,
        partition_id: int,
        first_offset: int,
        last_offset: int,
        batches: Sequence[Buffer],
        indexed: Sequence[IndexEntry],
    ) -> int:
        self._check_loaded("replace", partition_id)
        return super().replace(partition_id, first_offset, last_offset, batches, indexed)

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        self._check_loaded("trim", partition_id)
        return super().trim(partition_id, offset, max_batches)

    def drop(self, partition_id: int, max_batches: int) -> bool:
        self._check_loaded("drop", partition_id)
        return super().drop(partition_id, max_batches)

    def _check_loaded(self, call: str, partition_id: int) -> None:
        if not self._is_loaded(call, partition_id):
            raise NotInMemory(self._load(partition_id))

    def _is_loaded(self, call: str, partition_id: int) -> bool:
        return (
            self.loading is None
            or call not in self.awaited
            or self.loading_of not in (None, partition_id)
        )

    def _load(self, partition_id: int) -> Pending[None]:
        assert self.loading is not None
        return self.loading

    def _check(self) -> None:
        if self.failing is not None:
            raise StorageFailed(self.failing.message)

    def wait_in(self, *calls: str) -> None:
        """These calls raise NotInMemory until `load`."""
        self.awaited, self.loading = calls, Pending()

    def load(self) -> None:
        """The requested pages are in memory now."""
        loading, self.loading = self.loading, None
        assert loading is not None
        loading.resolve(None)


class InProcessBroker:
    """`settings`: keys with underscores, as num_partitions="3"."""

    def __init__(self, storage: str = "memory://", flush: str = "os", **settings: str) -> None:
        self.clock = FakeClock()
        self.scheduler = FakeScheduler(self.clock)
        self.events = FakeEventLog()
        self.config = BrokerConfig(
            {name.replace("_", "."): value for name, value in settings.items()}
        )
        self.placement = self._placement()
        self.core = Core(
            self.config,
            self.scheduler,
            self._clock(),
            self.events,
            self._storage(storage, flush),
            self.placement,
            self._changes(),
        )
        self._offset_repository = self._offsets()
        self.broker = make_broker(self.core, self._offset_repository, OpenAuthorizer())

    # Replaced by fakes:

    def _placement(self) -> FakePlacement:
        return FakePlacement(self.config.node_id, self.config.broker_rack)

    def _clock(self) -> Clock:
        return SystemClock()

    def _changes(self) -> ClusterChanges | None:
        return None

    def _storage(self, url: str, flush: str) -> Storage:
        return open_storage(url, cast(Flush, flush))

    def _offsets(self) -> OffsetRepository:
        return StoredOffsetRepository(self.core.storage.state, self.core.commits.when_committed)

    def close(self) -> None:
        self._offset_repository.close()
        self.core.commit.close()

    def run(self) -> None:
        self.scheduler.run()

    def topic(self, name: str = "t", partitions: int = 1, **configs: str) -> Topic:
        """Creates a topic; configs have underscores, like settings."""
        dotted = {key.replace("_", "."): value for key, value in configs.items()}
        pending = self.broker.topics.create_topics.create(
            [NewTopic(name, partitions, configs=dotted)], validate_only=False
        )
        assert not isinstance(pending, list), [str(one) for one in pending]
        self.run()
        return self.existing(name)

    def existing(self, name: str = "t") -> Topic:
        found = self.broker.catalog.topic(name)
        assert found is not None
        return found

    def partition(self, name: str = "t", index: int = 0) -> Partition:
        partition = self.broker.catalog.partition(self.existing(name), index)
        assert partition is not None
        return partition

    def append(
        self, batch: bytes | bytearray, name: str = "t", index: int = 0
    ) -> Appended | BrokerError:
        """Stages a batch for the commit of this pass."""
        records = memoryview(bytearray(batch))
        partition = self.partition(name, index)
        return self.broker.messages.produce.append(partition, records, True, waits=False)

    def appended(self, batch: bytes | bytearray, name: str = "t", index: int = 0) -> Appended:
        """Commits a batch."""
        appended = self.append(batch, name, index)
        assert not isinstance(appended, BrokerError), appended.message
        self.run()
        return appended


class FakeBroker(InProcessBroker):
    """Starts empty, or with the committed data of `store`.

    Shared rows that are staged without the right fail the test.
    """

    def __init__(
        self, store: MemoryStore | None = None, copies: FakeCopies | None = None, **settings: str
    ) -> None:
        self.store = store or MemoryStore()
        self.copies = copies
        self.commit = FakeCommit(self.store)
        self.log = FlakyLogStore(self.store)
        self.reserve = FakeReserve()
        super().__init__(**settings)
        self.changes.guards = True

    def _changes(self) -> ClusterChanges:
        return self.changes

    def _storage(self, url: str, flush: str) -> Storage:
        self.changes = FakeChanges(self.scheduler)
        self.commit.on_begin = self.changes.end
        info = StorageInfo("memory", None, 0, "none", "a-store")
        return Storage(
            self.log, self._state(), self.commit, info, reserve=self.reserve, copies=self.copies
        )

    def _state(self) -> StateStore:
        return GuardedState(self.store, self.changes)

    def _clock(self) -> Clock:
        return self.clock

    def restarted(self) -> FakeBroker:
        """Another broker over the committed data of this one."""
        self.close()
        given = {name.replace(".", "_"): value for name, value in self.config.given.items()}
        return FakeBroker(self.store, self.copies, **given)

    def stored(self, name: str = "t", index: int = 0) -> bytes:
        """The whole committed log of a partition."""
        partition_id = self.existing(name).partition_ids[index]
        return self.log.read(partition_id, 0, 2**62, 2**62, True)


def with_topic(partitions: int = 1, **configs: str) -> FakeBroker:
    """With the topic `t`."""
    fake = FakeBroker()
    fake.topic("t", partitions, **configs)
    return fake
