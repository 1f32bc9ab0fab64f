"""Metrics of topics and their partitions, read in slices.

All offsets are read before any is reported, so that the metrics of one partition are of one moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import exp

from application.background.job import Job
from application.cluster.replicas import DescribedReplicas, ReplicasOf
from application.metrics.families import jmx, others, own
from application.metrics.families import kafka_exporter as exporter
from application.metrics.families.family import Reading, Sample, in_readings
from application.partitions.reading import load_all
from application.ports.clock import Clock
from application.ports.placement import Placement
from application.state.catalog import Catalog
from domain.cluster.nodes import NO_LEADER
from domain.configs.topic import TopicConfig
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.partitions.partition import Partition
from domain.partitions.traffic import Traffic
from domain.topics.topic import Topic

#: Time constant of the average rates.
QUARTER_HOUR_MS = 15 * 60_000.0
#: Partitions that are read before other jobs may run.
LOOKED_AT_ONCE = 20
#: Partitions that are loaded between two calls of `many_loaded`.
LOADED_AT_ONCE = 100

#: Of partitions: fields of `_TopicSnapshot`.
_COLUMNS = (
    (exporter.CURRENT_OFFSET, "ends"),
    (exporter.OLDEST_OFFSET, "starts"),
    (jmx.LOG_SIZE, "sizes"),
    (exporter.LEADER, "leaders"),
    (exporter.REPLICAS, "replicas"),
    (exporter.IN_SYNC, "in_sync"),
    (exporter.PREFERRED, "preferred"),
    (exporter.UNDER_REPLICATED, "under_replicated"),
    (own.LEADER_EPOCH, "epochs"),
)
#: Of topics: fields of the traffic of their partitions.
_TRAFFIC = (
    (jmx.BYTES_IN, "bytes_in"),
    (jmx.BYTES_OUT, "bytes_out"),
    (jmx.PRODUCE_REQUESTS, "appends"),
    (jmx.FAILED_PRODUCE, "failed_appends"),
    (jmx.FETCH_REQUESTS, "fetches"),
    (jmx.FAILED_FETCH, "failed_fetches"),
)
_NOTHING: Counter[str] = Counter()
_RATES = (("BytesInPerSec", "bytes_in"), ("BytesOutPerSec", "bytes_out"))


class _TopicSnapshot:
    """The partitions of a topic, column by column, and their sums."""

    __slots__ = (
        "ends",
        "epochs",
        "in_sync",
        "labels",
        "leaders",
        "name",
        "preferred",
        "replicas",
        "sizes",
        "starts",
        "sums",
        "under_replicated",
        "unreadable",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.labels: list[tuple[str, str]] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.sizes: list[int] = []
        self.leaders: list[int] = []
        self.epochs: list[int] = []
        self.replicas: list[int] = []
        self.in_sync: list[int] = []
        self.preferred: list[int] = []
        self.under_replicated: list[int] = []
        self.unreadable = 0
        #: What only grows; empty while nothing is known of any partition.
        self.sums: Counter[str] = Counter()

    def add(self, partition: Partition, described: DescribedReplicas) -> None:
        self.labels.append((self.name, str(partition.index)))
        self.starts.append(partition.log_start_offset)
        self.ends.append(partition.high_watermark)
        self.sizes.append(partition.durable.size_bytes)
        self.leaders.append(described.leader_id)
        self.epochs.append(described.leader_epoch)
        self.replicas.append(len(described.replicas))
        self.in_sync.append(len(described.in_sync))
        self.preferred.append(int(described.is_preferred))
        self.under_replicated.append(int(bool(described.offline)))
        self.count(partition)

    def count(self, partition: Partition) -> None:
        traffic = partition.traffic
        end = max(traffic.next_offset, partition.high_watermark)
        self.sums["messages"] += end - traffic.counted_from
        self.count_traffic(traffic)

    def count_left(self, traffic: Traffic) -> None:
        self.sums["messages"] += traffic.next_offset - traffic.counted_from
        self.count_traffic(traffic)

    def at_least(self, before: Counter[str]) -> None:
        for field, value in before.items():
            self.sums[field] = max(self.sums[field], value)

    def count_traffic(self, traffic: Traffic) -> None:
        for _, field in _TRAFFIC:
            self.sums[field] += getattr(traffic, field)


class _Tally:
    """Of all partitions: those that this broker leads, and if it is the controller, of all."""

    def __init__(self, placement: Placement) -> None:
        self._node_id = placement.node_id
        # Without a lease another broker is the controller, or becomes it.
        self._is_controller = placement.has_lease and placement.controller_id == placement.node_id
        self._replicas = self._led = self._under_replicated = self._under_min_isr = 0
        self._leaderless = self._imbalanced = 0

    def add(self, one: DescribedReplicas, is_under_min_isr: bool) -> None:
        self._replicas += self._node_id in one.replicas
        if one.leader_id == self._node_id:
            self._led += 1
            self._under_replicated += bool(one.offline)
            self._under_min_isr += is_under_min_isr
        self._leaderless += one.leader_id == NO_LEADER.node_id
        self._imbalanced += not one.is_preferred

    def read(self, unreadable: int) -> Iterator[Reading]:
        yield jmx.PARTITION_COUNT, [((), self._replicas)]
        yield jmx.LEADER_COUNT, [((), self._led)]
        yield jmx.UNDER_REPLICATED, [((), self._under_replicated)]
        yield jmx.UNDER_MIN_ISR, [((), self._under_min_isr)]
        offline = unreadable + self._leaderless * self._is_controller
        for family in (jmx.OFFLINE_PARTITIONS, others.REDPANDA_UNAVAILABLE):
            yield family, [((), offline)]
        yield jmx.PREFERRED_IMBALANCE, [((), self._imbalanced * self._is_controller)]


class TopicReadings:
    def __init__(
        self,
        catalog: Catalog,
        clock: Clock,
        placement: Placement,
        many_loaded: Callable[[], None] = lambda: None,
        is_under_min_isr: Callable[[TopicConfig], bool] = lambda _: False,
    ) -> None:
        """`many_loaded` is called after every hundred loaded partitions: they are never freed."""
        self._catalog = catalog
        self._many_loaded = many_loaded
        self._loaded = 0
        self._clock = clock
        self._placement = placement
        self._is_under_min_isr = is_under_min_isr
        self._rates: dict[tuple[str, str], Rate] = {}
        self._rated_ms: int | None = None
        #: By topic, as last reported: a partition may leave while others are read.
        self._counted: dict[bytes, Counter[str]] = {}

    def load(self) -> Job[None]:
        """Partitions that were not used since the start: what is read then waits for no store."""
        return load_all(self._catalog, self._catalog.all_places(), self._count_loaded)

    def read(self) -> Iterator[Reading]:
        topics = list(self._catalog)
        counts = [((topic.name,), len(topic.partition_ids)) for topic in topics]
        yield from in_readings(exporter.PARTITIONS, iter(counts))
        yield others.REDPANDA_PARTITIONS, [((), sum(count for _, count in counts))]
        snapshots: list[_TopicSnapshot] = []
        replicas_of, tally = ReplicasOf(self._placement), _Tally(self._placement)
        counted: dict[bytes, Counter[str]] = {}
        for topic in topics:
            seen = _TopicSnapshot(topic.name)
            left = self._catalog.left_traffic(topic.name)
            if left is not None:
                seen.count_left(left)
            for index in range(len(topic.partition_ids)):
                # Others run meanwhile: it may have been changed, or be gone.
                current = self._catalog.topic_by_id(topic.topic_id)
                if current is None:
                    break
                described = replicas_of(current.partition_ids[index])
                tally.add(described, self._is_under_min_isr(self._catalog.config(current)))
                self._look_at(current, index, seen, described)
                if index % LOOKED_AT_ONCE == LOOKED_AT_ONCE - 1:
                    yield exporter.PARTITIONS, []
            else:
                seen.at_least(self._counted.get(topic.topic_id, _NOTHING))
                counted[topic.topic_id] = seen.sums
                snapshots.append(seen)
            yield exporter.PARTITIONS, []
        if not self._placement.is_alone:
            self._counted = counted
        unreadable = sum(seen.unreadable for seen in snapshots)
        yield from tally.read(unreadable)
        yield from self._of_partitions(snapshots)
        yield from _of_topics([seen for seen in snapshots if seen.sums])
        yield from self._rated(snapshots)

    def _count_loaded(self) -> None:
        self._loaded += 1
        if self._loaded % LOADED_AT_ONCE == 0:
            self._many_loaded()

    def _look_at(
        self, topic: Topic, index: int, seen: _TopicSnapshot, described: DescribedReplicas
    ) -> None:
        followed = self._catalog.followed_traffic(topic.partition_ids[index])
        if followed is not None:
            seen.count_traffic(followed)  # its leader counts the rest
        try:
            partition = self._catalog.loaded_now(topic, index)
        except NotLeaderOrFollower:
            return
        except StorageFailed:
            seen.unreadable += 1  # the catalogue has logged it
            partition = self._catalog.loaded_partition(topic, index)
            if partition is not None:
                seen.count(partition)  # counters never decrease
        else:
            if partition is not None:
                seen.add(partition, described)

    def _of_partitions(self, snapshots: list[_TopicSnapshot]) -> Iterator[Reading]:
        for family, field in _COLUMNS:
            # A broker that is alone has the same epoch everywhere: no line for each partition.
            is_shown = family is not own.LEADER_EPOCH or not self._placement.is_alone
            shown = snapshots if is_shown else []
            columns = (zip(seen.labels, getattr(seen, field), strict=True) for seen in shown)
            yield from in_readings(family, (sample for column in columns for sample in column))

    def _rated(self, snapshots: list[_TopicSnapshot]) -> Iterator[Reading]:
        """Averages are updated with each scrape."""
        now_ms = self._clock.monotonic_ms()
        passed_ms = 0 if self._rated_ms is None else max(now_ms - self._rated_ms, 0)
        self._rated_ms = now_ms
        rates: dict[tuple[str, str], Rate] = {}

        def updated() -> Iterator[Sample]:
            for seen in snapshots:
                for name, field in _RATES:
                    key = name, seen.name
                    rate = rates[key] = self._rates.get(key) or Rate()
                    rate.update(seen.sums[field], passed_ms)
                    yield key, rate.a_second

        yield from in_readings(jmx.TOPIC_RATE, updated())
        self._rates = rates
        for name, _ in _RATES:
            of_all = sum(rate.a_second for key, rate in rates.items() if key[0] == name)
            yield jmx.BROKER_RATE, [((name,), of_all)]


def _of_topics(snapshots: list[_TopicSnapshot]) -> Iterator[Reading]:
    for family, field in ((jmx.MESSAGES_IN, "messages"), *_TRAFFIC):
        yield from in_readings(family, (((seen.name,), seen.sums[field]) for seen in snapshots))
    sizes = (((seen.name,), sum(seen.sizes)) for seen in snapshots)
    yield from in_readings(others.KMINION_TOPIC_SIZE, sizes)


class Rate:
    """How fast a count grows, the newest quarter of an hour counting most."""

    __slots__ = ("_count", "a_second")

    def __init__(self) -> None:
        self._count = 0
        self.a_second = 0.0

    def update(self, count: int, passed_ms: float) -> None:
        if not passed_ms:  # the first time: what came before is not known to be of one moment
            self._count = count
            return
        grown = count - self._count if count >= self._count else count
        self._count = count
        weight = 1 - exp(-passed_ms / QUARTER_HOUR_MS)
        self.a_second += weight * (grown * 1000 / passed_ms - self.a_second)
