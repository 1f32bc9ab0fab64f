"""A record counts to the period in which it was sent, however late it comes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

pytest.importorskip("numpy", reason="needs what Spark's extra brings")

from interfaces.spark.jobs.perf.consuming import _Consuming
from interfaces.spark.jobs.perf.plan import ConsumerTask, Plan, ProducerTask, Timing, periods_in
from interfaces.spark.jobs.perf.producing import _Producing
from interfaces.spark.jobs.perf.records import RecordMaker
from interfaces.spark.jobs.perf.result import _backlog
from interfaces.spark.jobs.perf.tally import Tally
from interfaces.spark.query.failures import JobFailed

RUN, SIZE = 7, 64
#: A warm-up of 2 s and then four periods of a second.
TIMING = Timing(100.0, 2.0, 4.0, 4)
PRODUCER = ProducerTask(0, "t", 1, 0.0, SIZE, "NO_KEY")
CONSUMER = ConsumerTask(0, "t/0", "t", (0,), (0,))


class Message:
    def __init__(self, value: bytes, latency: float = 0.0) -> None:
        self._value = value
        self._latency = latency

    def value(self) -> bytes:
        return self._value

    def partition(self) -> int:
        return 0

    def latency(self) -> float:
        return self._latency

    def __len__(self) -> int:
        return len(self._value)


class Idle:
    def poll(self, _seconds: float) -> None:
        pass


def consumed(moments: list[tuple[float, float]]) -> Tally:
    """When each record was sent and consumed."""
    consuming = _Consuming(Plan(RUN, {}, {}, (PRODUCER, CONSUMER), TIMING), CONSUMER)
    make = RecordMaker(RUN, 0, SIZE).make
    for number, (sent, came) in enumerate(moments):
        consuming._take([Message(make(number, int(sent * 1e9)))], int(came * 1e9))
    return consuming._tally


def acknowledged(moments: list[tuple[float, float]]) -> Tally:
    producing = _Producing(Plan(RUN, {}, {}, (PRODUCER,), TIMING), PRODUCER)
    make = RecordMaker(RUN, 0, SIZE).make
    for number, (sent, came) in enumerate(moments):
        producing._delivered(None, Message(make(number, int(sent * 1e9)), came - sent))  # type: ignore[arg-type]
        producing._look(Idle(), came)
    return producing._tally


@pytest.mark.parametrize(
    ("seconds", "periods"), [(0.1, 1), (1.5, 2), (2.0, 2), (119.6, 120), (1000.0, 120)]
)
def test_periods_are_of_one_length_and_fill_the_measured_time(seconds: float, periods: int) -> None:
    timing = Timing(50.0, 1.0, seconds, periods_in(seconds))
    assert timing.periods == periods
    assert timing.period_s * periods == pytest.approx(seconds)
    moments = [51 + seconds * (step + 0.5) / 2400 for step in range(2400)]
    counts = [0] * periods
    for moment in moments:
        counts[timing.period(moment)] += 1
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("side", [consumed, acknowledged])
@pytest.mark.parametrize(
    ("sent", "came", "rate_of", "latency_of"),
    [
        (101.0, 101.5, None, None),
        (101.9, 103.5, None, None),  # of the warm-up, however late it comes
        (102.5, 102.6, 0, 0),
        (102.5, 105.5, 3, 0),
        (105.5, 109.5, None, 3),  # after the end: a broker that stalls shows
        (106.0, 106.1, None, None),
    ],
)
def test_a_record_counts_if_it_was_sent_in_the_measured_time(
    side: Callable[[list[tuple[float, float]]], Tally],
    sent: float,
    came: float,
    rate_of: int | None,
    latency_of: int | None,
) -> None:
    tally = side([(sent, came)])
    assert tally.records == [int(period == rate_of) for period in range(4)]
    assert tally.bytes == [SIZE * records for records in tally.records]
    assert [each.count for each in tally.latencies] == [int(p == latency_of) for p in range(4)]
    if latency_of is not None:
        assert tally.all_latencies().max == pytest.approx((came - sent) * 1e6, rel=0.01)


def test_the_backlog_has_records_of_the_warm_up() -> None:
    out = acknowledged([(100.5, 101.0), (100.6, 101.1), (102.5, 102.6), (104.5, 104.6)])
    came = consumed([(100.5, 101.5), (100.6, 103.5), (102.5, 104.5), (104.5, 106.5)])
    assert _backlog(out, came, 1) == [2, 1, 1, 1]
    assert _backlog(came, out, 1) == [0, 0, 0, 0]


class Clock:
    """Each sleep takes some time, also one of 0 seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def time(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return round(self.now * 1e9)

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.0001)


class Client:
    """A producer with room for `queue` records. The broker acknowledges records between `since` and
    `until`: all at each poll, or one at each poll that waits."""

    def __init__(
        self,
        clock: Clock,
        since: float = 0.0,
        until: float = inf,
        queue: float = inf,
        one_by_one: bool = False,
    ) -> None:
        self._clock, self._queue, self._one_by_one = clock, queue, one_by_one
        self._since, self._until = since, until
        self._in_flight: list[tuple[Any, Message, float]] = []

    def produce(self, _topic: str, value: bytes, *_: Any, on_delivery: Any, **__: Any) -> None:
        if len(self) >= self._queue:
            raise BufferError
        self._in_flight.append((on_delivery, Message(value), self._clock.now))

    def poll(self, seconds: float) -> None:
        self._clock.sleep(seconds)
        if not self._since <= self._clock.now < self._until:
            return
        count = int(seconds >= 0.1) if self._one_by_one else len(self)
        for callback, message, sent in self._in_flight[:count]:
            message._latency = self._clock.now - sent
            callback(None, message)
        del self._in_flight[:count]

    def __len__(self) -> int:
        return len(self._in_flight)


def produced(
    clock: Clock, client: Client, rate: float, timing: Timing, patience_s: float
) -> tuple[_Producing, int]:
    task = ProducerTask(0, "t", 1, rate, SIZE, "NO_KEY")
    plan = Plan(RUN, {}, {}, (task,), timing, patience_s=patience_s, servers="127.0.0.1:1")
    producing = _Producing(plan, task, clock)
    return producing, producing._send(client)


def test_acknowledgements_after_the_end_show_in_the_longest_latency() -> None:
    clock = Clock()
    timing = Timing(clock.now, 0.1, 0.2, 1)
    producing, sent = produced(clock, Client(clock, since=timing.end + 0.3), 500.0, timing, 30.0)
    latencies = producing._tally.all_latencies()
    assert sent == 150
    assert producing._tally.records == [0]
    assert latencies.count == 100
    assert 450_000 <= latencies.max <= 600_000
    assert producing._ended == 1


@pytest.mark.parametrize(("until", "fails_at"), [(0.0, 0.3), (0.25, 0.55)])
def test_without_an_acknowledgement_a_run_fails_after_the_patience(
    until: float, fails_at: float
) -> None:
    clock = Clock()
    start = clock.now
    timing = Timing(start, 0.0, 3600.0, 1)
    client = Client(clock, until=start + until, queue=20)
    with pytest.raises(JobFailed, match=r"^nothing was acknowledged for 0\.3 s: no broker at 127"):
        produced(clock, client, 1000.0, timing, 0.3)
    assert clock.now - start == pytest.approx(fails_at, abs=0.1)


def test_a_low_rate_does_not_exceed_the_patience() -> None:
    clock = Clock()
    timing = Timing(clock.now, 0.0, 10.0, 1)
    producing, sent = produced(clock, Client(clock), 0.5, timing, 1.0)
    assert (sent, producing._ended) == (5, 1)


def test_a_run_waits_for_a_long_queue_while_records_are_acknowledged() -> None:
    clock = Clock()
    timing = Timing(clock.now, 0.0, 0.3, 1)
    producing, sent = produced(clock, Client(clock, one_by_one=True), 1000.0, timing, 0.5)
    assert producing._tally.all_latencies().count == sent > 200
    assert producing._ended == 1
    assert clock.now > timing.end + 10
