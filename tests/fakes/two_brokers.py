"""Two brokers over one store, between which partitions move. Each has a clock of its own."""

from __future__ import annotations

from collections.abc import Collection

from application.ports.cluster_repository import WrittenTopic
from application.topics.create import NewTopic
from domain.cluster.nodes import Leader, Node
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from infrastructure.storage.memory.store import MemoryStore
from tests.fakes.client import LISTENER, FakeKafka
from tests.fakes.placement import FakePlacement

INTERNAL = (OFFSETS_TOPIC, TRANSACTION_TOPIC)
EVERYTHING = ("t", *INTERNAL)
NODES = [Node(each, None, {LISTENER: (f"192.0.2.{each}", 9092)}) for each in (1, 2)]


class OneOfTwo(FakeKafka):
    """Node 1 leads everything at first."""

    def _placement(self) -> FakePlacement:
        placement = FakePlacement(self.config.node_id)
        placement.add(NODES[self.config.node_id % 2])
        if placement.node_id == 2:
            placement.move_all(dict.fromkeys(range(20), Leader(1, 0)))
        return placement


class TwoBrokers:
    def __init__(self, **settings: str) -> None:
        self.first = first = OneOfTwo(node_id="1", offsets_topic="on", **settings)
        first.topic("t", 2)
        first.changes.check()
        for name in INTERNAL:
            topic = first.broker.topics.create_topics.create_internal(NewTopic(name, 2))
            written = WrittenTopic(topic.topic_id, complete=True)
            first.core.cluster.save_internal_topic(name, written)
        first.run()
        store = MemoryStore()  # what one broker stages, the other does not commit
        store.partitions, store.tables = first.store.partitions, first.store.tables
        store.keys = first.store.keys
        self.second = OneOfTwo(store=store, node_id="2", offsets_topic="on", **settings)
        self._epoch = 0

    def of(self, node_id: int) -> OneOfTwo:
        return self.first if node_id == 1 else self.second

    def move(self, node_id: int, topics: Collection[str] = EVERYTHING) -> None:
        """All partitions of these topics; the broker that loses them knows first."""
        self.lose(node_id, topics)
        self.gain(node_id, topics)

    def lose(self, node_id: int, topics: Collection[str] = EVERYTHING) -> None:
        self._epoch += 1
        self._notify(3 - node_id, node_id, topics)

    def gain(self, node_id: int, topics: Collection[str] = EVERYTHING) -> None:
        self._notify(node_id, node_id, topics)

    def _notify(self, notified: int, node_id: int, topics: Collection[str]) -> None:
        ids = [one for name in topics for one in self.first.existing(name).partition_ids]
        leader = Leader(node_id, self._epoch)
        self.of(notified).placement.move_all(dict.fromkeys(ids, leader))
