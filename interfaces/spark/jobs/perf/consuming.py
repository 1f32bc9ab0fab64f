"""A consumer's task: reads its partitions up to each producer's last record, and checks all."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from interfaces.spark.jobs.perf.clients import reason_of
from interfaces.spark.jobs.perf.plan import ConsumerTask, Plan
from interfaces.spark.jobs.perf.received import Received
from interfaces.spark.jobs.perf.records import LAST, heads, is_whole
from interfaces.spark.jobs.perf.tally import Tally

_AT_ONCE = 10_000


@dataclass
class Consumed:
    subscription: str
    tally: Tally
    #: Of each producer, the numbers of its records: a bit each, compressed.
    received: dict[int, bytes]
    records: int = 0
    doubled: int = 0
    disordered: int = 0
    spoiled: int = 0
    foreign: int = 0
    #: Partitions in which the last record of a producer is missing.
    unended: list[str] = field(default_factory=list)
    reason: str = ""


def consume(plan: Plan, task: ConsumerTask) -> Consumed:
    return _Consuming(plan, task).run()


class _Consuming:
    def __init__(self, plan: Plan, task: ConsumerTask) -> None:
        self._plan = plan
        self._task = task
        self._timing = plan.timing
        self._tally = Tally(plan.timing.periods)
        self._found = Consumed(task.subscription, self._tally, {})
        self._received = {number: Received() for number in task.producers}
        #: Of each partition the producers that have not ended it; and their highest numbers.
        self._open = {partition: set(task.producers) for partition in task.partitions}
        self._highest: dict[tuple[int, int], int] = {}

    def run(self) -> Consumed:
        from confluent_kafka import Consumer, TopicPartition

        group = f"ottla-perf-{self._plan.run}"
        settings = {"group.id": group, **self._plan.consumer_settings}
        client = Consumer({**settings, "error_cb": self._failed})
        task = self._task
        client.assign([TopicPartition(task.topic, each, 0) for each in task.partitions])
        try:
            self._read(client)
        finally:
            client.close()
        return self._result()

    def _result(self) -> Consumed:
        found, received = self._found, self._received
        found.received = {number: each.packed() for number, each in received.items()}
        found.doubled = sum(each.doubled for each in received.values())
        found.unended = [f"{self._task.topic}-{each}" for each, left in self._open.items() if left]
        return found

    def _read(self, client: Any) -> None:
        """Until the end, or the patience after it: a broker that is gone ends the producers."""
        active_at = time.time()
        while any(self._open.values()):
            messages = client.consume(_AT_ONCE, 0) or client.consume(1, 0.25)
            now_ns = time.time_ns()
            now = now_ns / 1e9
            good = [message for message in messages if message.error() is None]
            if len(good) < len(messages):
                bad = next(each for each in messages if each.error() is not None)
                self._found.reason = bad.error().str()
            if good:
                active_at = now
                self._take(good, now_ns)
            elif now > max(self._timing.end, active_at) + self._plan.patience_s:
                return

    def _failed(self, error: Any) -> None:
        self._found.reason = reason_of(error) or self._found.reason

    def _take(self, messages: list[Any], now_ns: int) -> None:
        import numpy

        values = [message.value() or b"" for message in messages]
        partitions = [message.partition() for message in messages]
        whole = [is_whole(value) for value in values]
        if not all(whole):
            self._found.spoiled += whole.count(False)
            values = [value for value, good in zip(values, whole, strict=True) if good]
            partitions = [each for each, good in zip(partitions, whole, strict=True) if good]
        if not values:
            return
        columns = heads(values)
        places = numpy.array(partitions)
        sizes = numpy.fromiter(map(len, values), numpy.int64, len(values))
        ours = (columns["run"] == self._plan.run) & numpy.isin(
            columns["producer"], self._task.producers
        )
        self._found.foreign += int((~ours).sum())
        last = ours & (columns["number"] == LAST)
        for partition, producer in zip(places[last], columns["producer"][last], strict=True):
            self._open[int(partition)].discard(int(producer))
        data = ours & ~last
        if data.any():
            self._check(columns[data], places[data])
            sent_ns = columns["sent_ns"][data].astype(numpy.int64)
            sent = self._timing.periods_of(sent_ns / 1e9)
            now = self._timing.period(now_ns / 1e9)
            self._tally.count(now, sent, sizes[data], (now_ns - sent_ns) // 1000)

    def _check(self, columns: Any, places: Any) -> None:
        import numpy

        self._found.records += len(columns)
        numbers = columns["number"].astype(numpy.int64)
        producers = columns["producer"].astype(numpy.int64)
        for producer in numpy.unique(producers):
            self._received[int(producer)].add(numbers[producers == producer])
            for partition in numpy.unique(places[producers == producer]):
                came = numbers[(producers == producer) & (places == partition)]
                place = (int(partition), int(producer))
                before = self._highest.get(place, -1)
                self._found.disordered += int((numpy.diff(came, prepend=before) <= 0).sum())
                self._highest[place] = max(before, int(came.max()))
