"""SharedStore: a store in memory that several brokers share, as they share a database.

Each broker stages changes of its own. A commit of a fenced broker fails, and one with changes that
were staged before it came back. After a commit the other brokers learn the rows that it has
changed, at the end of their pass, or when they get the right to change shared rows.
"""

from __future__ import annotations

from collections.abc import Callable

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from domain.cluster.nodes import Node
from domain.errors import StorageFailed
from domain.topics.topic import Topic
from infrastructure.storage.engine import Storage, StorageInfo
from infrastructure.storage.memory.store import MemoryStore
from interfaces.kafka.connections.listener import Listener
from interfaces.main.container.joining import announce
from tests.fakes.batches import record_batch
from tests.fakes.broker import FlakyLogStore, InProcessBroker
from tests.fakes.client import LISTENER, FakeClient, FakeListener
from tests.fakes.clock import FakeClock
from tests.fakes.database import Database, Past
from tests.fakes.logs import FakeRequestLog
from tests.fakes.membership import FakeMembers, FakeMembership
from tests.fakes.offset_requests import at, commit
from tests.fakes.placement import FakePlacement
from tests.fakes.sealed_log import FakeSealedLog
from tests.fakes.shared_commit import SharedCommit
from tests.fakes.store_view import SharedStateStore, StoreView


class SharedStore:
    def __init__(self) -> None:
        self.data = MemoryStore()
        self.members = FakeMembers()
        self.views: list[StoreView] = []
        self.brokers: dict[int, SharedBroker] = {}
        #: Who may change shared rows.
        self.holder: StoreView | None = None
        self.waiting: list[Pending[None]] = []
        self.database = Database(self.data, self.members)
        #: Of the newest timeline, as those of all brokers on it.
        self.first_epoch = self.losses = 0
        #: A broker, and how many commits it has repeated.
        self.when_went_on: Callable[[SharedBroker, int], None] = lambda broker, repeated: None

    def start(self, node_id: int, rack: str | None = None, **settings: str) -> SharedBroker:
        if rack is not None:
            settings["broker_rack"] = rack
        self.members.join(Node(node_id, rack, {LISTENER: (f"192.0.2.{node_id}", 9092)}))
        broker = SharedBroker(self, node_id, **settings)
        announce(broker.membership, broker.broker, [broker.listener])
        broker.broker.begin()
        broker.broker.start_upkeep()
        self.run()
        return broker

    def kill(self, node_id: int, persists: bool = False) -> None:
        """The process ends. Others fence it later. Its commit under way is durable, or lost."""
        broker = self.brokers.pop(node_id)
        broker.store.end()
        broker.membership.end()
        broker.broker.stop_upkeep()
        if broker.commit.under_way and persists:
            broker.commit.let_go()
        self.release(broker.store)

    def fence(self, node_id: int) -> None:
        self.members.fence(node_id)
        self.run()

    def run(self) -> None:
        """Until nothing is scheduled; jobs pause some milliseconds."""
        self.advance(50)

    def advance(self, by_ms: int, step_ms: int = 5) -> None:
        for _ in range(0, by_ms, step_ms):
            for broker in list(self.brokers.values()):
                broker.scheduler.advance(step_ms)

    def topic(self, name: str = "t", partitions: int = 1, on: int = 1) -> Topic:
        topic = self.brokers[on].topic(name, partitions)
        self.run()
        return topic

    def led(self, name: str, by: int) -> list[int]:
        """The indexes of the partitions of a topic that a broker leads, as it sees it."""
        broker = self.brokers[by]
        topic = broker.broker.catalog.topic(name)
        assert topic is not None
        ids = enumerate(topic.partition_ids)
        return [index for index, each in ids if broker.leader(each)[0] == by]

    def release(self, view: StoreView) -> None:
        if self.holder is view:
            self._release()

    def _release(self) -> None:
        self.holder = None
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            one.resolve(None)

    def past(self) -> Past:
        """What an asynchronous standby has from now on."""
        for broker in self.brokers.values():
            broker.commit.note_session()
        return self.database.past()

    def return_to(self, past: Past, first_epoch: int) -> None:
        """That standby is promoted. Brokers notice it in their next pass, or before their next
        commit: they go on with it, or their commits fail from then on.
        """
        self.database.return_to(past)
        self._next_timeline(first_epoch)
        self._release()
        for broker in self.brokers.values():
            broker.commit.is_to_check = True
            broker.store.wake()
        self.members.return_to(past.registered)

    def promote(self, first_epoch: int) -> None:
        """A synchronous standby: nothing is lost, which brokers cannot know."""
        self._next_timeline(first_epoch)
        for broker in self.brokers.values():
            broker.changes.promoted(first_epoch, self.losses)

    def _next_timeline(self, first_epoch: int) -> None:
        self.first_epoch = first_epoch
        self.losses += 1

    @property
    def over(self) -> list[int]:
        """Brokers that do not go on: they have to start again."""
        return [node_id for node_id, one in self.brokers.items() if one.commit.is_over]


class SharedChanges:
    """Implements `ClusterChanges`."""

    def __init__(self, view: StoreView, commit: SharedCommit, membership: FakeMembership) -> None:
        self._view = view
        self._commit = commit
        self._membership = membership
        self.checks = 0
        self.first_epoch, self.losses = view.shared.first_epoch, view.shared.losses
        self._when_promoted: list[Callable[[], None]] = []

    def on_promoted(self, call: Callable[[], None]) -> None:
        self._when_promoted.append(call)

    def promoted(self, first_epoch: int, losses: int) -> None:
        """This broker is connected to the server of that timeline."""
        self.first_epoch, self.losses = first_epoch, losses
        for call in self._when_promoted:
            call()

    def check(self) -> None:
        self.checks += 1
        shared = self._view.shared
        if shared.holder not in (None, self._view) or self._view.is_over:
            pending: Pending[None] = Pending()
            shared.waiting.append(pending)
            raise NotInMemory(pending)
        shared.holder = self._view
        self._commit.ends_right = self._commit.count + 1
        self._commit.learn()
        self._commit.may_change()
        self._membership.learn()


class SharedListener(FakeListener):
    """On one address; brokers may advertise another one."""

    name = LISTENER
    advertised = Listener.advertised

    def __init__(self, broker: SharedBroker, node_id: int) -> None:
        super().__init__(broker, FakeRequestLog())
        self.bound = (f"192.0.2.{node_id}", 9092)


class SharedBroker(InProcessBroker):
    def __init__(self, shared: SharedStore, node_id: int, **settings: str) -> None:
        self.shared = shared
        self.membership = FakeMembership(shared.members, node_id)
        self.store = StoreView(shared)
        self.commit = SharedCommit(self.store, shared.database, self.membership)
        self.changes = SharedChanges(self.store, self.commit, self.membership)
        self.commit.when_goes_on = self._goes_on
        self.log = FlakyLogStore(self.store)
        self.sealed_log = FakeSealedLog(self.log)
        super().__init__(node_id=str(node_id), **settings)
        self.listener = SharedListener(self, node_id)
        self.store.wake = lambda: self.scheduler.soon(self.commit.learn)
        shared.brokers[node_id] = self

    def _goes_on(self, repeated: int) -> None:
        self.shared.when_went_on(self, repeated)
        self.changes.promoted(self.shared.first_epoch, self.shared.losses)

    def _placement(self) -> FakePlacement:
        return None  # type: ignore[return-value]  # that of the store

    def _changes(self) -> SharedChanges:
        return self.changes

    def _clock(self) -> FakeClock:
        return self.clock

    def _storage(self, url: str, flush: str) -> Storage:
        return Storage(
            self.log,
            SharedStateStore(self.store),
            self.commit,
            StorageInfo("memory", None, 0, "none", "a-store"),
            fetch_row=self.fetch_row,
            membership=self.membership,
            cluster_changes=self.changes,
            sealed_log=self.sealed_log,
        )

    def fetch_row(self, table: str, key: bytes) -> Pending[bytes | StorageFailed | None]:
        """Reads a pass later, and responds a pass after that."""
        found: Pending[bytes | StorageFailed | None] = Pending()

        def read() -> None:
            row = self.shared.data.tables.get(table, {}).get(key)
            self.scheduler.soon(lambda: found.resolve(row))

        self.scheduler.soon(read)
        return found

    def client(self) -> FakeClient:
        return self.listener.client()

    def leader(self, partition_id: int) -> tuple[int, int]:
        """Node id and epoch, as this broker sees it."""
        return tuple(self.core.placement.leader(partition_id))


def with_group_lag() -> tuple[SharedStore, list[int]]:
    """Broker 1 coordinates two groups: `known` has lag 2 in a partition that it leads, `partly` in
    one that broker 2 leads, too. With the indexes of both partitions.
    """
    shared = SharedStore()
    for node_id in (1, 2):
        shared.start(
            node_id,
            offsets_topic="on",
            offsets_topic_num_partitions="1",
            transaction_state_log_num_partitions="1",
            default_replication_factor="2",
        )
    shared.topic("t", 4)
    places = [shared.led("t", node_id)[0] for node_id in (1, 2)]
    for node_id, index in zip((1, 2), places, strict=True):
        shared.brokers[node_id].appended(record_batch(["a", "b", "c"]), "t", index)
    client = shared.brokers[1].client()
    for group_id, indexes in (("known", places[:1]), ("partly", places)):
        commit(client, group_id, ("t", [at(index, 1) for index in indexes]))
    shared.run()
    return shared, places
