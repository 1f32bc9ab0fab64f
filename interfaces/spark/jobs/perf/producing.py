"""A producer's task: records at a rate, or as fast as possible, and their acknowledgements."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interfaces.spark.jobs.perf.clients import reason_of, why_silent
from interfaces.spark.jobs.perf.plan import Plan, ProducerTask
from interfaces.spark.jobs.perf.records import LAST, RecordMaker, number_and_time
from interfaces.spark.jobs.perf.tally import Tally
from interfaces.spark.query.failures import JobFailed

if TYPE_CHECKING:
    from confluent_kafka import Message

#: Records between two looks at the clock and at acknowledgements.
_AT_ONCE = 64
_KEYS = 10_000


@dataclass
class Produced:
    number: int
    tally: Tally
    #: Of the records sent, `unknown` were not acknowledged: they may be in the log or not.
    sent: int
    unknown: list[int]


def produce(plan: Plan, task: ProducerTask) -> Produced:
    return _Producing(plan, task).run()


class _Producing:
    def __init__(self, plan: Plan, task: ProducerTask, clock: Any = time) -> None:
        """`clock` has `time`, `time_ns` and `sleep`."""
        self._plan = plan
        self._task = task
        self._clock = clock
        self._timing = plan.timing
        self._tally = Tally(plan.timing.periods)
        #: Since the last look: when a record was sent, its latency in seconds, its bytes.
        self._acknowledged: list[tuple[int, float, int]] = []
        self._delays: list[float] = []
        self._by_partition = [0] * task.partitions
        self._unknown: list[int] = []
        self._ended = 0
        self._reason = ""
        #: When a record was acknowledged last, or none was in flight.
        self._active_at = clock.time()

    def run(self) -> Produced:
        sent = self._send(self._client())
        for partition, records in enumerate(self._by_partition):
            self._tally.partitions[f"{self._task.topic}-{partition}"] = records
        return Produced(self._task.number, self._tally, sent, self._unknown)

    def _client(self) -> Any:
        if self._plan.into_nothing:
            return Nowhere()
        from confluent_kafka import Producer

        return Producer({**self._plan.producer_settings, "error_cb": self._failed})

    def _send(self, client: Any) -> int:
        task, timing = self._task, self._timing
        make = RecordMaker(self._plan.run, task.number, task.size).make
        keys = key_maker(task.keys, self._plan.run + task.number)
        produce, topic, delivered = client.produce, task.topic, self._delivered
        gap = 1 / task.rate if task.rate else 0.0
        clock_s, clock_ns = self._clock.time, self._clock.time_ns
        counts_from_ns, end_ns = timing.counts_from * 1e9, timing.end * 1e9
        self._clock.sleep(max(0.0, timing.start - clock_s()))
        number = 0
        while (now := clock_s()) < timing.end:
            self._look(client, now)
            due = number + _AT_ONCE
            if gap:
                due = min(due, int((now - timing.start) / gap) + 1)
                if due <= number:
                    client.poll(min(timing.start + number * gap - now, 0.05))
                    continue
            while number < due:
                sent_ns = clock_ns()
                if sent_ns >= end_ns:
                    break
                value, key = make(number, sent_ns), next(keys)
                try:
                    produce(topic, value, key, on_delivery=delivered)
                except BufferError:
                    # Its due time does not change: waiting for the queue counts as behind the rate.
                    self._look(client, clock_s(), 0.01)
                    continue
                if gap and sent_ns >= counts_from_ns:
                    self._delays.append(sent_ns / 1000 - (timing.start + number * gap) * 1e6)
                number += 1
        self._look(client, clock_s())
        if not self._plan.into_nothing:
            self._end(client, make(LAST, clock_ns()))
        return number

    def _look(self, client: Any, now: float, wait_s: float = 0.0) -> None:
        """Counts new acknowledgements; raises when there are none for as long as the patience."""
        import numpy

        client.poll(wait_s)
        if self._acknowledged or not len(client):
            self._active_at = now
        elif now - self._active_at >= self._plan.patience_s:
            why = why_silent(self._plan.servers, self._reason)
            raise JobFailed(f"nothing was acknowledged for {self._plan.patience_s:g} s: {why}")
        if self._acknowledged:
            sent_ns, latencies, sizes = map(numpy.array, zip(*self._acknowledged, strict=True))
            sent = self._timing.periods_of(sent_ns / 1e9)
            self._tally.count(self._timing.period(now), sent, sizes, latencies * 1e6)
            self._acknowledged.clear()
        if self._delays:
            self._tally.delays.add(numpy.array(self._delays))
            self._delays.clear()

    def _delivered(self, error: Any, message: Message) -> None:
        number, sent_ns = number_and_time(message.value() or b"")
        if error is not None:
            self._reason = error.str()
            self._unknown.append(number)
            self._tally.fail(self._timing.period(sent_ns / 1e9))
            return
        self._acknowledged.append((sent_ns, message.latency() or 0.0, len(message)))
        self._by_partition[message.partition() or 0] += 1

    def _end(self, client: Any, last: bytes) -> None:
        """Once all is acknowledged, a last record in each partition tells consumers the end."""
        self._drain(client)
        for partition in range(self._task.partitions):
            client.produce(self._task.topic, last, partition=partition, on_delivery=self._last)
        self._drain(client)
        if self._ended < self._task.partitions:
            raise JobFailed(f"{self._task.topic}: the last record is refused: {self._reason}")

    def _drain(self, client: Any) -> None:
        """The patience restarts with each acknowledgement, as a long queue takes time."""
        self._active_at = self._clock.time()
        while len(client):
            self._look(client, self._clock.time(), 0.1)

    def _failed(self, error: Any) -> None:
        self._reason = reason_of(error) or self._reason

    def _last(self, error: Any, _message: Message) -> None:
        if error is None:
            self._ended += 1
        else:
            self._reason = error.str()


class Nowhere:
    """A producer without a broker, and its messages: acknowledges at the next poll."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[Any, Any], None]] = []
        self._value = b""

    def produce(self, _topic: str, value: bytes, _key: bytes | None, on_delivery: Any) -> None:
        self._value = value
        self._callbacks.append(on_delivery)

    def poll(self, _seconds: float) -> None:
        for acknowledge in self._callbacks:
            acknowledge(None, self)
        self._callbacks.clear()

    def value(self) -> bytes:
        return self._value

    def latency(self) -> float:
        return 0.0

    def partition(self) -> int:
        return 0

    def __len__(self) -> int:
        return len(self._value)


def key_maker(kind: str, seed: int) -> Iterator[bytes | None]:
    if kind == "NO_KEY":
        return itertools.repeat(None)
    if kind == "RANDOM_NANO":
        return (b"%d" % time.perf_counter_ns() for _ in itertools.count())
    keys = [b"key-%d" % number for number in range(_KEYS)]
    if kind == "KEY_ROUND_ROBIN":
        return itertools.cycle(keys)
    import numpy

    drawn = numpy.random.default_rng(seed).zipf(1.3, 1 << 16) % _KEYS
    return itertools.cycle([keys[each] for each in drawn])
