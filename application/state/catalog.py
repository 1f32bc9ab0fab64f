"""Catalog: all topics, and the partitions that were used since the start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from application.ports.log_store import NotInMemory
from application.ports.partition_repository import PartitionRepository
from application.ports.pending import all_of
from application.ports.placement import Placement
from application.ports.topic_repository import TopicRepository
from application.state.fetch_purgatory import FetchPurgatory
from application.state.storage_health import StorageHealth
from domain.cluster.nodes import NO_LEADER, Leader
from domain.configs.broker import BrokerConfig
from domain.configs.topic import TopicConfig, resolve_topic_config
from domain.errors import (
    BrokerError,
    NotLeaderOrFollower,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.partitions.leader_epochs import NO_EPOCH, check_leader_epoch
from domain.partitions.partition import Partition
from domain.partitions.producers import Producers
from domain.partitions.traffic import Traffic
from domain.topics.topic import OFFSETS_TOPIC, Topic, collision_key


class Catalog:
    """Durable topics only: they appear and disappear when their commit is done."""

    def __init__(
        self,
        topics: TopicRepository,
        partitions: PartitionRepository,
        config: BrokerConfig,
        storage_health: StorageHealth,
        placement: Placement,
        purgatory: FetchPurgatory,
    ) -> None:
        self._partitions = partitions
        self._storage_health = storage_health
        self._config = config
        self._placement = placement
        self._purgatory = purgatory
        self._by_name: dict[str, Topic] = {}
        self._by_id: dict[bytes, Topic] = {}
        # Hot path of every request: the dict methods themselves.
        self.topic: Callable[[str], Topic | None] = self._by_name.get
        self.topic_by_id: Callable[[bytes], Topic | None] = self._by_id.get
        self._collisions: dict[str, dict[str, None]] = {}
        self._loaded: dict[int, Partition] = {}
        #: Other brokers lead these, or have led them.
        self._moved: set[int] = set()
        #: Producers of partitions that this node hands over. It awaits them if the hand-over fails.
        self._handed_over: dict[int, Producers] = {}
        #: What partitions have counted that other brokers lead now, by topic.
        self._left: dict[str, Traffic] = {}
        #: What was served of partitions while other brokers led them.
        self._followed: dict[int, Traffic] = {}
        self._layout_watched: dict[str, list[Callable[[], None]]] = {}
        self._configs: dict[bytes, TopicConfig] = {}
        #: Rises with every change, so that responses made from the catalogue can be cached.
        self.revision = 0
        #: The revision at which a topic was last created, deleted or got partitions.
        self.layout_revision = 0
        for topic in topics.load():
            self.put(topic)
            if not placement.is_alone:
                self._note_moved(topic.partition_ids)
        placement.on_moved(self._leaders_changed)

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def all_places(self) -> Iterator[tuple[str, int]]:
        return ((topic.name, index) for topic, index in self.places(lambda _: True))

    def places(self, matches: Callable[[TopicConfig], bool]) -> Iterator[tuple[Topic, int]]:
        """Partitions of topics whose config matches, as they are now: a job that takes one after
        another runs beside others, which change topics.
        """
        for listed in list(self):
            for index in range(len(listed.partition_ids)):
                topic = self.topic_by_id(listed.topic_id)
                if topic is None or not matches(self.config(topic)):
                    break
                yield topic, index

    def holds(self, partition: Partition) -> bool:
        """False if the topic of a partition was deleted, or the partition moved to another node."""
        return self._loaded.get(partition.partition_id) is partition

    def unavailable_error(
        self, partition_id: int, topic_name: str | None = None
    ) -> BrokerError | None:
        """Why a partition is no longer loaded; None while it is. Faster with the topic name."""
        if partition_id in self._loaded:
            return None
        topics = self if topic_name is None else filter(None, [self.topic(topic_name)])
        if any(partition_id in topic.partition_ids for topic in topics):
            return NotLeaderOrFollower(self._placement.leader(partition_id))
        return UnknownTopicOrPartition("The topic was deleted")

    def on_layout_of(self, topic_name: str, call: Callable[[], None]) -> None:
        """Calls back when a topic of this name is created, deleted or gets partitions."""
        self._layout_watched.setdefault(topic_name, []).append(call)

    def _layout_changed(self, topic: Topic) -> None:
        for call in self._layout_watched.get(topic.name, ()):
            call()

    def name_of(self, topic_id: bytes) -> str | None:
        topic = self.topic_by_id(topic_id)
        return None if topic is None else topic.name

    def names(self) -> list[str]:
        return sorted(self._by_name)

    def colliding(self, name: str) -> str | None:
        """The topic whose name differs only in '.' and '_'."""
        return next(iter(self._collisions.get(collision_key(name), ())), None)

    def config(self, topic: Topic) -> TopicConfig:
        config = self._configs.get(topic.topic_id)
        if config is None:
            config = resolve_topic_config(topic.configs, self._config)
            self._configs[topic.topic_id] = config
        return config

    def partition(
        self, topic: Topic, index: int, waits: bool = True, leader_epoch: int = NO_EPOCH
    ) -> Partition | None:
        """Raises StorageFailed if the log cannot be read, NotLeaderOrFollower if another node leads
        the partition: FencedLeaderEpoch or UnknownLeaderEpoch if this one is a replica and the
        client knows another leader epoch. Without `waits` the first use may raise NotInMemory.
        """
        ids = topic.partition_ids
        if not 0 <= index < len(ids):
            return None
        partition = self._loaded.get(ids[index])
        if partition is None:
            partition = self._load(topic, index, waits, leader_epoch)
        elif partition.broken is not None:
            # Without NotInMemory: others that hold it must not see it half recovered.
            self._recover(partition, waits=True)
        return partition

    def loaded_now(
        self, topic: Topic, index: int, leader_epoch: int = NO_EPOCH
    ) -> Partition | None:
        """As `partition`, but a first use that has to wait raises StorageFailed."""
        try:
            return self.partition(topic, index, waits=False, leader_epoch=leader_epoch)
        except NotInMemory:
            raise StorageFailed("The log of the partition is not loaded yet") from None

    def partitions(
        self, places: Iterable[tuple[Topic, int]]
    ) -> list[Partition | NotLeaderOrFollower | StorageFailed | None]:
        """The partition of each place, or why it cannot be used; None if it does not exist.

        Raises NotInMemory if a first use needs pages from disk: call it again then.
        """
        found: list[Partition | NotLeaderOrFollower | StorageFailed | None] = []
        loading = []
        for topic, index in places:
            try:
                found.append(self.partition(topic, index, waits=False))
            except NotInMemory as later:
                loading.append(later.loading)
            except (NotLeaderOrFollower, StorageFailed) as error:
                found.append(error.as_value())
        if loading:
            raise NotInMemory(all_of(loading))
        return found

    def load(self, places: Iterable[tuple[str, int]]) -> None:
        """Recovers these partitions, so that a later use reads nothing from disk.

        Raises NotInMemory as `partitions` does.
        """
        topics = ((self.topic(name), index) for name, index in places)
        self.partitions((topic, index) for topic, index in topics if topic is not None)

    def existing_partition(
        self, topic_name: str, index: int, leader_epoch: int = NO_EPOCH
    ) -> Partition:
        """Raises UnknownTopicOrPartition if there is none; otherwise like `loaded_now`. Where this
        node leads it checks the leader epoch of the client, too.
        """
        topic = self.topic(topic_name)
        found = None if topic is None else self.loaded_now(topic, index, leader_epoch)
        if found is None:
            raise UnknownTopicOrPartition()
        found.check_leader_epoch(leader_epoch)
        return found

    def _load(self, topic: Topic, index: int, waits: bool, leader_epoch: int) -> Partition:
        partition = Partition(topic.partition_ids[index], topic.name, index, self.config(topic))
        partition.producers = self._handed_over.get(partition.partition_id, partition.producers)
        self._recover(partition, waits, leader_epoch)
        self._handed_over.pop(partition.partition_id, None)
        traffic = partition.traffic
        traffic.first_offset = partition.high_watermark
        if partition.partition_id in self._moved:
            # Before that others have counted.
            traffic.counted_from = traffic.first_offset
        self._loaded[partition.partition_id] = partition
        return partition

    def _recover(self, partition: Partition, waits: bool, leader_epoch: int = NO_EPOCH) -> None:
        leader = self._placement.leader(partition.partition_id)
        if leader.node_id != self._placement.node_id:
            self._check_as_replica(partition.partition_id, leader, leader_epoch)
            who = "No node" if leader.node_id == NO_LEADER.node_id else f"Node {leader.node_id}"
            raise NotLeaderOrFollower(leader, f"{who} leads the partition.")
        try:
            self._partitions.recover(partition, waits)
        except StorageFailed as failure:
            # A new one: the traceback of the first would hold its request.
            partition.broken = StorageFailed(failure.message)
            self._storage_health.unreadable(partition.topic, partition.index, failure)
            raise
        partition.lead(leader)

    def _check_as_replica(self, partition_id: int, leader: Leader, epoch: int) -> None:
        """As in Kafka, a broker that is no replica knows no leader epoch."""
        if leader.node_id == NO_LEADER.node_id:
            return  # its epoch is not the newest one
        if self._placement.node_id in self._placement.replicas(partition_id):
            check_leader_epoch(leader, epoch)

    def _leaders_changed(self, partition_ids: Collection[int]) -> None:
        """Repeats delayed fetches of partitions with another leader or leader epoch."""
        self.revision += 1  # cached responses contain nodes and leaders
        self._note_moved(partition_ids)
        changed = []
        for partition_id in partition_ids:
            leader = self._placement.leader(partition_id)
            if leader.node_id not in (self._placement.node_id, NO_LEADER.node_id):
                self._handed_over.pop(partition_id, None)
            partition = self._loaded.get(partition_id)
            if partition is None:
                continue
            if leader.node_id == self._placement.node_id:
                partition.lead(leader)  # staged batches remain
            else:
                self._leave(partition, leader)
            changed.append(partition)
        # After all: a fetch of several repeats at the first, and its session keeps what it finds.
        for partition in changed:
            self._purgatory.advanced(partition)

    @property
    def has_lease(self) -> bool:
        """Otherwise another broker may lead what this one leads, and have more of it."""
        return self._placement.has_lease

    def check_lease(self) -> None:
        """For batches, and a response that takes records for gone. Raises NotLeaderOrFollower."""
        if not self.has_lease:
            raise NotLeaderOrFollower(message="Another node may lead the partition.")

    def is_elsewhere(self, topic_name: str, index: int) -> bool:
        """Whether this broker does not know the log of a partition: another one leads it, or none.

        False if there is no such partition.
        """
        topic = self.topic(topic_name)
        if topic is None or not 0 <= index < len(topic.partition_ids):
            return False
        leader = self._placement.leader(topic.partition_ids[index])
        return leader.node_id != self._placement.node_id

    def _note_moved(self, partition_ids: Iterable[int]) -> None:
        own = (self._placement.node_id, NO_LEADER.node_id)
        lead = self._placement.leader
        self._moved.update(each for each in partition_ids if lead(each).node_id not in own)

    def _leave(self, partition: Partition, leader: Leader) -> None:
        del self._loaded[partition.partition_id]
        if leader.node_id == NO_LEADER.node_id:
            self._handed_over[partition.partition_id] = partition.producers
        self._moved.add(partition.partition_id)
        left = self._left.setdefault(partition.topic, Traffic())
        left.add(partition.traffic, partition.high_watermark)

    def left_traffic(self, topic_name: str) -> Traffic | None:
        """What its partitions have counted here that other brokers lead now."""
        return self._left.get(topic_name)

    def followed(self, partition_id: int) -> Traffic:
        """To count what is served of an existing partition that another broker leads."""
        return self._followed.setdefault(partition_id, Traffic())

    def followed_traffic(self, partition_id: int) -> Traffic | None:
        return self._followed.get(partition_id)

    def left_traffics(self) -> Iterable[tuple[str, Traffic]]:
        return self._left.items()

    def partition_by_id(self, partition_id: int) -> Partition | None:
        """None if it was not used since the start, or its topic was deleted."""
        return self._loaded.get(partition_id)

    def is_loaded(self, topic: Topic, index: int) -> bool:
        """Whether `partition` needs no disk; also True if there is none."""
        ids = topic.partition_ids
        if not 0 <= index < len(ids):
            return True
        partition = self._loaded.get(ids[index])
        return partition is not None and partition.broken is None

    def loaded_partition(self, topic: Topic, index: int) -> Partition | None:
        """Also one that cannot be read; None, too, if there is none."""
        ids = topic.partition_ids
        return self._loaded.get(ids[index]) if 0 <= index < len(ids) else None

    def loaded(self) -> list[Partition]:
        return list(self._loaded.values())

    @property
    def offsets_partitions(self) -> int:
        """Of `__consumer_offsets`, one of which stands for a group. Without the topic those that it
        would have.
        """
        topic = self.topic(OFFSETS_TOPIC)
        if topic is None:
            return self._config.offsets_topic_num_partitions
        return len(topic.partition_ids)

    def partition_count(self) -> int:
        return sum(len(topic.partition_ids) for topic in self._by_name.values())

    def put(self, topic: Topic) -> None:
        before = self._by_name.get(topic.name)
        self._by_name[topic.name] = topic
        self._by_id[topic.topic_id] = topic
        self._collisions.setdefault(collision_key(topic.name), {})[topic.name] = None
        self._configs.pop(topic.topic_id, None)
        self._update_partitions(topic)
        self.revision += 1
        if before is None or before.partition_ids != topic.partition_ids:
            self.layout_revision = self.revision
            first = None if before is None else self._loaded.get(topic.partition_ids[0])
            if first is not None:
                # A tail of the whole topic watches all partitions: one of them is enough.
                self._purgatory.advanced(first)
            self._layout_changed(topic)

    def reconfigured(self) -> None:
        """The configs of the broker have changed, which are the defaults of topics."""
        self._configs.clear()
        for topic in self:
            self._update_partitions(topic)
        self.revision += 1

    def _update_partitions(self, topic: Topic) -> None:
        """Applies the config to loaded partitions; others get it when they are loaded."""
        for partition_id in topic.partition_ids:
            partition = self._loaded.get(partition_id)
            if partition is not None:
                partition.configure(self.config(topic))

    def remove(self, topic: Topic) -> None:
        """Removes the topic, and repeats delayed fetches of its partitions."""
        del self._by_name[topic.name]
        del self._by_id[topic.topic_id]
        self._remove_collision(topic.name)
        self._configs.pop(topic.topic_id, None)
        self.revision += 1
        self.layout_revision = self.revision
        held = [self._loaded.pop(i, None) for i in topic.partition_ids]
        self._moved.difference_update(topic.partition_ids)
        for partition_id in topic.partition_ids:
            self._handed_over.pop(partition_id, None)
            self._followed.pop(partition_id, None)
        self._left.pop(topic.name, None)
        for partition in held:
            if partition is not None:
                self._purgatory.advanced(partition)
        self._layout_changed(topic)

    def _remove_collision(self, name: str) -> None:
        """Several colliding names may exist: one request may create them, as in Kafka."""
        names = self._collisions[collision_key(name)]
        del names[name]
        if not names:
            del self._collisions[collision_key(name)]
