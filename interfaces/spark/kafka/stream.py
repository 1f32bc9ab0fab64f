"""Reads a stream in micro-batches, from the offsets in the checkpoint.

One reader plans in the driver's process as long as the query runs; the tasks have copies, which
only read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from interfaces.spark.kafka import checkpoints
from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.groups import mirror, mirrored_group
from interfaces.spark.kafka.limits import limited
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reading import read_range
from interfaces.spark.query.assignment import assignment_of
from interfaces.spark.query.bounds import start_of_stream
from interfaces.spark.query.failures import WrongOption, lost
from interfaces.spark.query.ranges import Offsets, Place, Range, for_tasks
from interfaces.spark.query.reader import tasks

if TYPE_CHECKING:
    import pyarrow

_TRIGGER_DELAY_MS = 15 * 60_000
_RETRIES, _RETRY_INTERVAL_MS = 3, 10


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Connects on first use: Spark creates one reader to plan, and another for the tasks."""

    def __init__(self, options: KafkaOptions) -> None:
        self.options = options
        self.group = options.group()
        self.assignment = assignment_of(options)
        self.start = start_of_stream(options)
        self.fail_on_loss = options.flag("failOnDataLoss", True)
        self.most = options.number("maxOffsetsPerTrigger")
        self.least = options.number("minOffsetsPerTrigger")
        if self.most and self.least and self.least > self.most:
            raise WrongOption("minOffsetsPerTrigger is larger than maxOffsetsPerTrigger")
        self.delay_s = options.duration_ms("maxTriggerDelay", _TRIGGER_DELAY_MS) / 1000
        self.mirrored = mirrored_group(options)
        self.for_tasks = options.for_tasks
        self.broker = Broker(options)
        self._topic_ids: dict[str, str] = {}
        self._latest: Offsets | None = None
        self._target: Offsets | None = None
        self._last_batch_s: float | None = None

    def initialOffset(self) -> dict[str, Any]:
        places = self.broker.places(self.assignment)
        self._topic_ids = self.broker.topic_ids
        self.start.check(places)
        return checkpoints.written(self.broker.resolved(self.start, places))

    def getDefaultReadLimit(self) -> ReadLimit:
        if self.most:
            return ReadMaxRows(self.most)
        return ReadMinRows(self.least) if self.least else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """The next run reads what arrives later, in new partitions too."""
        self._target = self._found()

    def reportLatestOffset(self) -> dict[str, Any] | None:
        return None if self._latest is None else checkpoints.written(self._latest)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        known = checkpoints.read(start)
        ends = self._ends(known)
        if isinstance(limit, ReadAllAvailable):
            return checkpoints.written(ends)
        new = self.broker.earliest(ends.keys() - known.keys())
        starts = new | known
        if self._should_wait(starts, ends):
            return start
        if most := getattr(limit, "max_rows", self.most):
            ends = limited(starts, ends, most)
        return checkpoints.written(ends)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        starts, ends = checkpoints.read(start), checkpoints.read(end)
        self._require_none_gone(starts, ends)
        new = self.broker.earliest(ends.keys() - starts.keys())
        for place, offset in new.items():
            if offset > 0:
                self._lost(f"{place} is new, and its log starts at offset {offset} already")
        starts |= new
        ranges = [Range(place, starts[place], ends[place]) for place in sorted(ends)]
        return tasks(for_tasks(ranges, *self.for_tasks))

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        if isinstance(partition.value, Range):
            yield from read_range(self.options, self.group, partition.value)

    def commit(self, end: dict[str, Any]) -> None:
        """Spark has written the checkpoint; this updates the mirrored group."""
        if self.mirrored:
            mirror(self.broker, self.mirrored, checkpoints.read(end))

    def stop(self) -> None:
        self.broker.close()

    def _ends(self, known: Offsets) -> Offsets:
        """The end of each log. A missing partition keeps its offset, as it may be missing in this
        response only; a log that became shorter continues from its new end, as with the connector;
        a topic that was created again continues from its start, in the next micro-batch."""
        found = dict(self._found() if self._target is None else self._target)
        self._require_none_gone(known, found)
        shorter = [place for place in found if found[place] < known.get(place, 0)]
        if shorter:
            found |= self._after_another_look(known, shorter)
        known_topics, other = set(self._topic_ids), self._other_topics()
        back = [p for p in found if p in known and (found[p] < known[p] or p.topic in other)]
        for place in back:
            self._lost(
                f"{place} was read up to offset {known[place]} and ends at {found[place]} now: "
                "it was truncated, or the topic was deleted and created again"
            )
        for place, first in self.broker.earliest(back).items():
            # After a restart the id is unknown: a log that starts at 0 is taken for a new one.
            if place.topic in other or (place.topic not in known_topics and first == 0):
                found[place] = first
        gone = (place for place in known.keys() - found.keys() if place.topic not in other)
        return found | {place: known[place] for place in gone}

    def _other_topics(self) -> set[str]:
        """Topics that were deleted and created again since the last call."""
        ids = self.broker.topic_ids
        other = {topic for topic, was in self._topic_ids.items() if ids.get(topic, was) != was}
        self._topic_ids |= ids
        return other

    def _found(self) -> Offsets:
        places = self.broker.places(self.assignment, lenient=True)
        self._latest = self.broker.latest(places)
        return self._latest

    def _after_another_look(self, known: Offsets, shorter: list[Place]) -> Offsets:
        """Asks for the ends again, as a lagging replica may have responded."""
        number = self.options.number_or
        found = self.broker.latest(shorter)
        for _ in range(number("fetchOffset.numRetries", _RETRIES)):
            if all(found[place] >= known[place] for place in shorter):
                break
            time.sleep(number("fetchOffset.retryIntervalMs", _RETRY_INTERVAL_MS) / 1000)
            found = self.broker.latest(shorter)
        if self._target is not None:
            found = {place: min(found[place], known[place]) for place in shorter}
            self._target |= found
        return found

    def _should_wait(self, starts: Offsets, ends: Offsets) -> bool:
        """minOffsetsPerTrigger: not beyond maxTriggerDelay, not with availableNow, and not if an
        end went back, which is detected only once."""
        now = time.monotonic()
        last = self._last_batch_s
        new = [ends[place] - starts[place] for place in ends]
        enough = sum(new) >= (self.least or 0) or min(new, default=0) < 0
        if enough or self._target is not None or last is None or now - last >= self.delay_s:
            self._last_batch_s = now
            return False
        return True

    def _require_none_gone(self, known: Offsets, found: Offsets) -> None:
        for place in sorted(known.keys() - found.keys()):
            self._lost(self.assignment.gone(place))

    def _lost(self, what: str) -> None:
        if self.fail_on_loss:
            raise lost(what)
