"""Two brokers over one store: each follows the rows that the other commits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from application.topics.create import NewTopic
from domain.cluster.nodes import Leader, Node
from domain.topics.topic import OFFSETS_TOPIC
from infrastructure.storage.memory.store import MemoryStore
from tests.fakes.broker import FakeBroker
from tests.fakes.cluster_changes import GuardedState
from tests.fakes.placement import FakePlacement

Changed = Callable[[Sequence[bytes]], None]


class FollowedState(GuardedState):
    """Rows of one broker. The other hears of them when its loop runs."""

    def __init__(self, broker: FollowingBroker) -> None:
        super().__init__(broker.store, broker.changes)
        self._scheduler = broker.scheduler
        self._followers: dict[str, list[Changed]] = {}
        self._changed: dict[str, dict[bytes, None]] = {}
        self.others: list[FollowedState] = []

    def follow(self, table: str, changed: Changed) -> None:
        self._followers.setdefault(table, []).append(changed)

    def _change(self, table: str, key: bytes, value: bytes | None) -> None:
        super()._change(table, key, value)
        for other in self.others:
            other.hear(table, key)

    def hear(self, table: str, key: bytes) -> None:
        if not self._changed:
            self._scheduler.soon(self._call)
        self._changed.setdefault(table, {})[key] = None

    def _call(self) -> None:
        changed, self._changed = self._changed, {}
        for table, keys in changed.items():
            for call in self._followers.get(table, ()):
                call(list(keys))


class PlacementOfTwo(FakePlacement):
    """The first node leads all partitions, until they are moved."""

    def __init__(self, node_id: int) -> None:
        super().__init__(node_id)
        self._nodes = [Node(1), Node(2)]

    def leader(self, partition_id: int) -> Leader:
        return self._leaders.get(partition_id, Leader(1, 0))


class FollowingBroker(FakeBroker):
    def __init__(self, store: MemoryStore, **settings: str) -> None:
        own = MemoryStore()
        # Committed data is shared, staged changes are not.
        own.partitions, own.tables, own.keys = store.partitions, store.tables, store.keys
        super().__init__(own, **settings)

    def _placement(self) -> FakePlacement:
        return PlacementOfTwo(self.config.node_id)

    def _state(self) -> FollowedState:
        self.state = FollowedState(self)
        return self.state


class FollowingBrokers:
    def __init__(self, **settings: str) -> None:
        self.store = MemoryStore()
        self.first = FollowingBroker(self.store, node_id="1", **settings)
        self.second = FollowingBroker(self.store, node_id="2", **settings)
        self.first.state.others = [self.second.state]
        self.second.state.others = [self.first.state]

    def run(self) -> None:
        """What the first commits, the second follows, and the other way round."""
        for broker in (self.first, self.second, self.first):
            broker.run()

    def advance(self, by_ms: int) -> None:
        for broker in (self.first, self.second, self.first):
            broker.scheduler.advance(by_ms)

    def coordinate_on(self, node_id: int) -> None:
        """This node coordinates all groups."""
        self.first.changes.check()
        create = self.first.broker.topics.create_topics
        topic = create.create_internal(NewTopic(OFFSETS_TOPIC, 1))
        self.run()
        self.move(topic.partition_ids[0], Leader(node_id, 1))

    def move(self, partition_id: int, leader: Leader) -> None:
        for broker in (self.first, self.second):
            broker.placement.move(partition_id, leader)
