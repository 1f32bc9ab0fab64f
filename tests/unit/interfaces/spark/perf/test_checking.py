"""Records that are lost, duplicated, out of order or corrupt are counted."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numpy", reason="needs what Spark's extra brings")

from interfaces.spark.jobs.perf.checking import Checked, check
from interfaces.spark.jobs.perf.consuming import _Consuming
from interfaces.spark.jobs.perf.job import NOT_RIGHT, NOTHING, _code
from interfaces.spark.jobs.perf.plan import ConsumerTask, Plan, ProducerTask, Timing, tasks_of
from interfaces.spark.jobs.perf.producing import Produced
from interfaces.spark.jobs.perf.received import Received, bits_of, unpacked
from interfaces.spark.jobs.perf.records import LAST, LEAST_BYTES, RecordMaker, heads, is_whole
from interfaces.spark.jobs.perf.report import verdict
from interfaces.spark.jobs.perf.tally import Tally
from interfaces.spark.jobs.perf.workload import Workload

RUN, SIZE, NUMBERS = 7, 64, 10


class Message:
    def __init__(self, partition: int, value: bytes | None) -> None:
        self._partition = partition
        self._value = value

    def partition(self) -> int:
        return self._partition

    def value(self) -> bytes | None:
        return self._value

    def error(self) -> None:
        return None


Messages = list[Message]


def sent() -> Messages:
    """In two partitions by turns, and the last record in each."""
    make = RecordMaker(RUN, 0, SIZE).make
    numbers = [Message(number % 2, make(number, 10**9 * number)) for number in range(NUMBERS)]
    return [*numbers, *(Message(partition, make(LAST, 0)) for partition in (0, 1))]


def checked(messages: Messages, unknown: list[int] | None = None) -> Checked:
    tasks = (
        ProducerTask(0, "t", 2, 0.0, SIZE, "NO_KEY"),
        ConsumerTask(0, "t/0", "t", (0, 1), (0,)),
    )
    plan = Plan(RUN, {}, {}, tasks, Timing(0.0, 0.0, 100.0, 100))
    consuming = _Consuming(plan, plan.consumers[0])
    for at in range(0, len(messages), 3):
        consuming._take(messages[at : at + 3], 10**12)
    produced = Produced(0, Tally(100), NUMBERS, unknown or [])
    return check(plan, [produced], [consuming._result()])


def wrong(outcome: Checked) -> dict[str, int]:
    names = ("lost", "doubled", "disordered", "spoiled", "foreign")
    return {name: count for name in names if (count := getattr(outcome, name))}


def test_records_received_as_they_were_sent_are_right() -> None:
    outcome = checked(sent())
    assert (wrong(outcome), outcome.is_right) == ({}, True)
    assert (outcome.sent, outcome.expected, outcome.received) == (NUMBERS, NUMBERS, NUMBERS)


def swapped(messages: Messages) -> Messages:
    return [*messages[2:4], *messages[:2], *messages[4:]]


def spoiled(messages: Messages) -> Messages:
    value = bytearray(messages[3].value() or b"")
    value[-1] ^= 1
    return [*messages[:3], Message(1, bytes(value)), *messages[4:]]


def foreign(messages: Messages) -> Messages:
    return [*messages, Message(0, RecordMaker(RUN + 1, 0, SIZE).make(3, 0))]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda messages: [*messages[:4], *messages[5:]], {"lost": 1}),
        (
            lambda messages: [*messages[:4], messages[3], *messages[4:]],
            {"doubled": 1, "disordered": 1},
        ),
        (lambda messages: [*messages, messages[9]], {"doubled": 1, "disordered": 1}),
        (swapped, {"disordered": 2}),
        (spoiled, {"spoiled": 1, "lost": 1}),
        (foreign, {"foreign": 1}),
        (lambda messages: [*messages, Message(0, None)], {"spoiled": 1}),
    ],
)
def test_wrong_records_are_counted(
    change: Callable[[Messages], Messages], found: dict[str, int]
) -> None:
    outcome = checked(change(sent()))
    assert wrong(outcome) == found
    assert outcome.is_right == (set(found) <= {"foreign"})


def test_a_record_without_acknowledgement_may_be_in_the_log_or_not() -> None:
    assert wrong(checked(sent(), unknown=[4])) == {}
    without = [each for number, each in enumerate(sent()) if number != 4]
    outcome = checked(without, unknown=[4])
    assert (wrong(outcome), outcome.unknown, outcome.expected) == ({}, 1, NUMBERS - 1)


@given(st.lists(st.lists(st.integers(0, 200_000), min_size=1, max_size=30), max_size=8))
def test_each_number_received_counts_once(batches: list[list[int]]) -> None:
    import numpy

    received = Received()
    for batch in batches:
        received.add(numpy.array(batch))
    every = [number for batch in batches for number in batch]
    assert received.doubled == len(every) - len(set(every))
    for size in (0, 1000, 1003):
        bits, beyond = unpacked(received.packed(), size)
        assert numbers_in(bits) == sorted({n for n in every if n < size})
        assert beyond == len({n for n in every if n >= size})


@given(st.integers(0, 100), st.sets(st.integers(-1, 110)))
def test_bits_of_all_numbers_without_some(size: int, but: set[int]) -> None:
    assert numbers_in(bits_of(size, but)) == [n for n in range(size) if n not in but]


def numbers_in(bits: Any) -> list[int]:
    return [number for number in range(len(bits) * 8) if bits[number >> 3] >> (number & 7) & 1]


def test_a_number_takes_a_bit() -> None:
    import numpy

    received = Received()
    for start in range(0, 8_000_000, 100_000):
        received.add(numpy.arange(start, start + 100_000))
    assert received.doubled == 0
    assert 1_000_000 <= len(zlib.decompress(received.packed())) <= 1_500_000


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**63), st.integers(LEAST_BYTES, 200))
def test_a_record_has_its_run_producer_number_and_checksum(
    number: int, sent_ns: int, size: int
) -> None:
    value = RecordMaker(RUN, 3, size).make(number, sent_ns)
    assert len(value) == size and is_whole(value)
    [head] = heads([value]).tolist()
    assert head == (RUN, 3, number, sent_ns)
    for at in range(0, size, 7):
        broken = bytearray(value)
        broken[at] ^= 0x10
        assert not is_whole(bytes(broken))


def test_tasks_share_partitions_and_the_rate() -> None:
    workload = Workload(
        topics=2, partitionsPerTopic=5, producerRate=100.0, subscriptionsPerTopic=2,
        consumerPerSubscription=3, producersPerTopic=2,
    )  # fmt: skip
    tasks = tasks_of(workload, ["a", "b"])
    producers = [task for task in tasks if isinstance(task, ProducerTask)]
    consumers = [task for task in tasks if isinstance(task, ConsumerTask)]
    assert [task.topic for task in producers] == ["a", "a", "b", "b"]
    assert sum(task.rate for task in producers) == 100
    for name in ("a/0", "a/1", "b/0", "b/1"):
        theirs = [task for task in consumers if task.subscription == name]
        assert sorted(p for task in theirs for p in task.partitions) == [0, 1, 2, 3, 4]
        assert {task.producers for task in theirs} == {(0, 1) if name[0] == "a" else (2, 3)}


def test_without_a_consumer_nothing_is_verified() -> None:
    without_consumers = Plan(RUN, {}, {}, (ProducerTask(0, "t", 2, 0.0, SIZE, "NO_KEY"),))
    outcome = check(without_consumers, [Produced(0, Tally(1), NUMBERS, [])], [])
    assert (outcome.sent, outcome.is_right) == (NUMBERS, None)
    assert "not verified" in verdict(outcome.to_json())


@pytest.mark.parametrize(
    ("right", "rate", "code"), [(None, 0.0, NOTHING), (False, 0.0, NOT_RIGHT), (None, 1.0, 0)]
)
def test_exit_codes(right: bool | None, rate: float, code: int) -> None:
    assert _code({"verification": {"right": right}, "meanPublishRate": rate}, []) == code
