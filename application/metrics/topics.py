"""What is read of topics and their partitions, a slice at a time.

A partition that nobody has used since the start is loaded for it: that costs a look into the store,
once. Offsets are looked at first, all before any is told, so that what is told of one partition was
true at one moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from math import exp

from application.metrics.families import jmx, others
from application.metrics.families import kafka_exporter as exporter
from application.metrics.families.family import Family, Reading, Sample, in_readings
from application.ports.clock import Clock
from application.state.catalog import Catalog
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.partitions.partition import Partition
from domain.topics.topic import Topic

#: Of the average that is said of so long a time.
QUARTER_HOUR_MS = 15 * 60_000.0
#: Partitions that are looked at before others may run, where none has to be loaded.
LOOKED_AT_ONCE = 20
#: That were loaded, before it is said that there is much that stays.
LOADED_AT_ONCE = 100

_IN, _OUT = "BytesInPerSec", "BytesOutPerSec"


class _Seen:
    """A topic as it was when it was looked at: its partitions side by side, and together."""

    __slots__ = (
        "appends", "bytes_in", "bytes_out", "ends", "failed_appends", "failed_fetches", "fetches",
        "indexes", "is_counted", "messages", "name", "sizes", "starts", "unreadable",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.indexes: list[str] = []
        #: Something is known of one of its partitions, at least.
        self.is_counted = False
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.sizes: list[int] = []
        self.appends = self.bytes_in = self.bytes_out = self.failed_appends = 0
        self.failed_fetches = self.fetches = self.messages = self.unreadable = 0

    def add(self, partition: Partition) -> None:
        self.indexes.append(str(partition.index))
        self.starts.append(partition.log_start_offset)
        self.ends.append(partition.high_watermark)
        self.sizes.append(partition.durable.size_bytes)
        self.count(partition)

    def count(self, partition: Partition) -> None:
        """What only grows, also while the partition cannot be read."""
        self.is_counted = True
        traffic = partition.traffic
        self.messages += max(traffic.next_offset, partition.high_watermark)
        self.bytes_in += traffic.bytes_in
        self.bytes_out += traffic.bytes_out
        self.appends += traffic.appends
        self.failed_appends += traffic.failed_appends
        self.fetches += traffic.fetches
        self.failed_fetches += traffic.failed_fetches


class TopicReadings:
    def __init__(
        self,
        catalog: Catalog,
        clock: Clock,
        node_id: int,
        much_stays: Callable[[], None] = lambda: None,
    ) -> None:
        """`much_stays`: is told now and then while partitions are loaded, which live for long."""
        self._catalog = catalog
        self._much_stays = much_stays
        self._loaded = 0
        self._clock = clock
        self._node_id = node_id
        self._rates: dict[tuple[str, str], Rate] = {}
        self._rated_ms: int | None = None

    def read(self) -> Iterator[Reading]:
        topics = list(self._catalog)
        counts = [((topic.name,), len(topic.partition_ids)) for topic in topics]
        yield from in_readings(exporter.PARTITIONS, iter(counts))
        all_partitions = sum(count for _, count in counts)
        for family in (jmx.PARTITION_COUNT, jmx.LEADER_COUNT, others.REDPANDA_PARTITIONS):
            yield family, [((), all_partitions)]
        yield jmx.UNDER_REPLICATED, [((), 0)]
        all_seen: list[_Seen] = []
        for topic in topics:
            seen = _Seen(topic.name)
            for index in range(len(topic.partition_ids)):
                # Others run meanwhile: it may have been changed, or be gone.
                current = self._catalog.topic_by_id(topic.topic_id)
                if current is None:
                    break
                loaded = self._catalog.is_loaded(current, index)
                self._look_at(current, index, seen)
                if not loaded:
                    self._count_loaded()
                # To load one may take a millisecond: a restart reads many headers again.
                if not loaded or index % LOOKED_AT_ONCE == LOOKED_AT_ONCE - 1:
                    yield exporter.PARTITIONS, []
            else:
                all_seen.append(seen)
            yield exporter.PARTITIONS, []
        unreadable = sum(seen.unreadable for seen in all_seen)
        for family in (jmx.OFFLINE_PARTITIONS, others.REDPANDA_UNAVAILABLE):
            yield family, [((), unreadable)]
        yield from self._of_partitions(all_seen)
        yield from self._of_topics([seen for seen in all_seen if seen.is_counted])
        yield from self._rated(all_seen)

    def _count_loaded(self) -> None:
        self._loaded += 1
        if self._loaded % LOADED_AT_ONCE == 0:
            self._much_stays()

    def _look_at(self, topic: Topic, index: int, seen: _Seen) -> None:
        try:
            partition = self._catalog.partition(topic, index)
        except NotLeaderOrFollower:
            return  # its leader counts it
        except StorageFailed:
            seen.unreadable += 1  # the catalogue has said so in the log
            partition = self._catalog.loaded_partition(topic, index)
            if partition is not None:
                seen.count(partition)  # no counter goes back
        else:
            if partition is not None:
                seen.add(partition)

    def _of_partitions(self, all_seen: list[_Seen]) -> Iterator[Reading]:
        for family, values in (
            (exporter.CURRENT_OFFSET, (one.ends for one in all_seen)),
            (exporter.OLDEST_OFFSET, (one.starts for one in all_seen)),
            (jmx.LOG_SIZE, (one.sizes for one in all_seen)),
        ):
            yield from in_readings(family, _samples(all_seen, values))
        always = (
            (exporter.LEADER, self._node_id),
            (exporter.REPLICAS, 1),
            (exporter.IN_SYNC, 1),
            (exporter.PREFERRED, 1),
            (exporter.UNDER_REPLICATED, 0),
        )
        for family, value in always:
            yield from in_readings(family, _samples(all_seen, repeat(repeat(value))))

    def _of_topics(self, all_seen: list[_Seen]) -> Iterator[Reading]:
        told: tuple[tuple[Family, str], ...] = (
            (jmx.MESSAGES_IN, "messages"),
            (jmx.BYTES_IN, "bytes_in"),
            (jmx.BYTES_OUT, "bytes_out"),
            (jmx.PRODUCE_REQUESTS, "appends"),
            (jmx.FAILED_PRODUCE, "failed_appends"),
            (jmx.FETCH_REQUESTS, "fetches"),
            (jmx.FAILED_FETCH, "failed_fetches"),
        )
        for family, field in told:
            yield from in_readings(family, (((one.name,), getattr(one, field)) for one in all_seen))
        sizes: Iterator[Sample] = (((one.name,), sum(one.sizes)) for one in all_seen)
        yield from in_readings(others.KMINION_TOPIC_SIZE, sizes)

    def _rated(self, all_seen: list[_Seen]) -> Iterator[Reading]:
        """Averages are brought up to date when they are asked for: with each scrape."""
        now_ms = self._clock.monotonic_ms()
        passed_ms = 0 if self._rated_ms is None else max(now_ms - self._rated_ms, 0)
        self._rated_ms = now_ms
        rates: dict[tuple[str, str], Rate] = {}
        sums = {_IN: 0.0, _OUT: 0.0}
        for number, seen in enumerate(all_seen):
            for which, count in ((_IN, seen.bytes_in), (_OUT, seen.bytes_out)):
                key = which, seen.name
                rate = rates[key] = self._rates.get(key) or Rate()
                rate.update(count, passed_ms)
                sums[which] += rate.a_second
            if number % LOOKED_AT_ONCE == LOOKED_AT_ONCE - 1:
                yield jmx.BROKER_RATE, []
        self._rates = rates
        yield jmx.BROKER_RATE, [((which,), value) for which, value in sums.items()]
        samples: Iterator[Sample] = ((key, rate.a_second) for key, rate in rates.items())
        yield from in_readings(jmx.TOPIC_RATE, samples)


def _samples(all_seen: Iterable[_Seen], values: Iterable[Iterable[int]]) -> Iterator[Sample]:
    for seen, of_topic in zip(all_seen, values, strict=False):
        name = seen.name
        for index, value in zip(seen.indexes, of_topic, strict=False):
            yield (name, index), value


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
