"""History: the last hour of the broker, its topics and its groups, for charts.

A background job takes a sample every ten seconds, in slices. It reads the counters of loaded
partitions and nothing from disk, so the lag of a group is unknown until all partitions for which it
has committed offsets were used since the start. History is not persisted.

Memory: 8 bytes per value; 3 MB for a full hour of 200 topics and 200 groups.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import nan

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.groups.offsets import Offsets
from application.metrics.families.durations import Durations
from application.metrics.families.request_counts import Counted, totals_of
from application.ports.clock import Clock
from application.state.catalog import Catalog

INTERVAL_MS = 10_000
#: An hour.
SAMPLES = 360
#: The first topics with traffic; one without traffic for an hour is replaced.
MOST_TOPICS = 200
#: The first groups with committed offsets.
MOST_GROUPS = 200
#: Values of a sample of the broker.
BROKER_VALUES = 12
#: Partitions that are read before other jobs may run.
LOOKED_AT_ONCE = 50

#: By topic: records, bytes in and bytes out since its partitions were loaded.
Traffic = dict[str, list[int]]
NO_TRAFFIC = [0, 0, 0]


class Series:
    """The columns of one topic, one group or the broker; the newest value is the last."""

    __slots__ = ("columns", "quiet")

    def __init__(self, columns: int) -> None:
        self.columns = [array("d") for _ in range(columns)]
        #: Samples since a value was not 0.
        self.quiet = 0

    def add(self, row: Iterable[float]) -> None:
        self.quiet += 1
        for column, value in zip(self.columns, row, strict=True):
            column.append(value)
            del column[:-SAMPLES]
            if value:
                self.quiet = 0


class SeriesTable(dict[str, Series]):
    """Series by name, a limited number of them."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def add(self, rows: Mapping[str, Sequence[float]]) -> None:
        """Drops the series of all other names."""
        for name in self.keys() - rows:
            del self[name]
        for name, row in rows.items():
            if name not in self:
                if len(self) == self._most:
                    continue
                self[name] = Series(len(row))
            self[name].add(row)


class _Quantiles:
    """Quantiles of the durations that were added since the last call, in microseconds."""

    def __init__(self) -> None:
        self._places = Durations().places

    def of(self, durations: Durations) -> tuple[float, float]:
        new = Durations()
        new.places = list(map(int.__sub__, durations.places, self._places))
        self._places = durations.places[:]
        if not any(new.places):
            return nan, nan
        return new.quantile_ns(0.5) / 1000, new.quantile_ns(0.99) / 1000


class History:
    def __init__(
        self,
        catalog: Catalog,
        offsets: Offsets,
        background: Runner,
        clock: Clock,
        counted: Callable[[], Iterable[Counted]],
        commits: Durations,
        gauges: Callable[[], tuple[float, float, float]],
    ) -> None:
        """`gauges`: connections, used bytes of the store, free bytes of its disk; nan: unknown."""
        self._catalog = catalog
        self._offsets = offsets
        self._background = background
        self._clock = clock
        self._counted = counted
        self.commits = commits
        self._gauges = gauges
        self._produce_time, self._commit_time = _Quantiles(), _Quantiles()
        self._sampled_ms = 0
        self._traffic: Traffic = {}
        self._totals: Sequence[int] = (0, 0, 0, 0)
        self._at_ms = array("d")
        self._broker = Series(BROKER_VALUES)
        self._topics = SeriesTable(MOST_TOPICS)
        self._groups = SeriesTable(MOST_GROUPS)

    def start(self) -> None:
        self._sampled_ms = self._clock.monotonic_ms()
        self._background.every(INTERVAL_MS, self.sample)

    # ---- reading: the time of each sample, and its values

    def broker(self) -> Iterator[tuple[float, ...]]:
        return self._rows(self._broker)

    def topic(self, name: str) -> Iterator[tuple[float, ...]]:
        return self._rows(self._topics.get(name))

    def group(self, group_id: str) -> Iterator[tuple[float, ...]]:
        return self._rows(self._groups.get(group_id))

    def _rows(self, series: Series | None) -> Iterator[tuple[float, ...]]:
        # Copies: a sample may be added while they are read.
        columns = [] if series is None else [column[:] for column in series.columns]
        held = len(columns[0]) if columns else 0
        return zip(self._at_ms[len(self._at_ms) - held :], *columns, strict=True)

    # ---- sampling

    def sample(self) -> Job[None]:
        traffic = yield from self._read_traffic()
        lags: dict[str, tuple[float]] = {}
        for group_id in list(self._offsets.group_ids())[:MOST_GROUPS]:
            lags[group_id] = ((yield from self._lag(group_id)),)
        now_ms = self._clock.monotonic_ms()
        seconds = max(now_ms - self._sampled_ms, 1) / 1000
        self._sampled_ms = now_ms
        messages_in, topics = yield from self._topic_rates(traffic, seconds)
        # One step, so that the newest values of all series are of the same sample.
        self._at_ms.append(self._clock.now_ms())
        del self._at_ms[:-SAMPLES]
        self._broker.add((messages_in, *self._broker_row(seconds)))
        self._topics.add(topics)
        self._groups.add(lags)

    def _read_traffic(self) -> Job[Traffic]:
        # Both as they are now: a partition that leaves meanwhile is counted once.
        loaded = self._catalog.loaded()
        traffic: Traffic = {
            name: [left.next_offset - left.first_offset, left.bytes_in, left.bytes_out]
            for name, left in self._catalog.left_traffics()
        }
        for number, partition in enumerate(loaded):
            counts = partition.traffic
            if counts.bytes_in or counts.bytes_out:
                end = max(counts.next_offset, partition.durable.next_offset)
                records = end - counts.first_offset
                sums = traffic.get(partition.topic)
                if sums is None:
                    traffic[partition.topic] = [records, counts.bytes_in, counts.bytes_out]
                else:
                    sums[0] += records
                    sums[1] += counts.bytes_in
                    sums[2] += counts.bytes_out
            if number % LOOKED_AT_ONCE == LOOKED_AT_ONCE - 1:
                yield SLICE
        return traffic

    def _topic_rates(
        self, traffic: Traffic, seconds: float
    ) -> Job[tuple[float, dict[str, Sequence[float]]]]:
        """Records per second of all topics; rates of those with traffic in the last hour."""
        before, self._traffic = self._traffic, traffic
        held = self._topics
        rates: dict[str, Sequence[float]] = {}
        messages_in = 0
        for number, (name, counts) in enumerate(traffic.items()):
            old = before.get(name) or NO_TRAFFIC
            if counts != old:
                messages_in += max(counts[0] - old[0], 0)
                if name in held or len(held) < MOST_TOPICS:
                    rates[name] = _rates(counts, old, seconds)
            elif name in held and held[name].quiet < SAMPLES:
                rates[name] = NO_TRAFFIC
            if number % LOOKED_AT_ONCE == LOOKED_AT_ONCE - 1:
                yield SLICE
        return messages_in / seconds, rates

    def _broker_row(self, seconds: float) -> Iterator[float]:
        totals, produce = totals_of(self._counted())
        before, self._totals = self._totals, totals
        yield from _rates(totals, before, seconds)
        yield from self._produce_time.of(produce)
        yield from self._commit_time.of(self.commits)
        yield from self._gauges()

    def _lag(self, group_id: str) -> Job[float]:
        lag = looked_at = 0
        for name, partitions in list(self._offsets.of(group_id).items()):
            topic = self._catalog.topic(name)
            for index, committed in list(partitions.items()):
                if topic is None or index >= len(topic.partition_ids):
                    continue
                partition = self._catalog.loaded_partition(topic, index)
                if partition is None:
                    return nan
                lag += max(partition.high_watermark - committed.offset, 0)
                looked_at += 1
                if looked_at % LOOKED_AT_ONCE == 0:
                    yield SLICE
        yield SLICE
        return lag


def _rates(counts: Sequence[int], before: Sequence[int], seconds: float) -> list[float]:
    """Of a counter that went down (a topic was created again), what it has counted since."""
    return [
        (count - old if count >= old else count) / seconds
        for count, old in zip(counts, before, strict=True)
    ]
