"""Streams with failOnDataLoss=false whose log end offsets go back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import JobFailed
from interfaces.spark.query.ranges import Offsets, Place, Range

pytest.importorskip("pyspark", reason="needs Spark")

T0, T1 = Place("t", 0), Place("t", 1)


class OneTopic:
    """A broker with the offsets that a test sets."""

    def __init__(self, ends: Offsets, starts: Offsets | None = None, topic_id: str = "id") -> None:
        self.ends, self.starts, self.topic_id = ends, starts or {}, topic_id
        self.topic_ids: dict[str, str] = {}
        #: Responses before the right one.
        self.early: list[Offsets] = []

    def places(self, assignment: object, lenient: bool = False) -> list[Place]:
        self.topic_ids = {"t": self.topic_id} if self.ends else {}
        return sorted(self.ends)

    def latest(self, places: Iterable[Place]) -> Offsets:
        ends = self.early.pop(0) if self.early else self.ends
        return {place: ends[place] for place in places}

    def earliest(self, places: Iterable[Place]) -> Offsets:
        return {place: self.starts.get(place, 0) for place in places}


class Stream:
    """Plans one micro-batch after the other, as Spark does."""

    def __init__(self, broker: OneTopic, at: dict[str, int], **options: str) -> None:
        from interfaces.spark.kafka.stream import StreamReader

        given = {"kafka.bootstrap.servers": "b:1", "subscribe": "t", "failOnDataLoss": "false"}
        self.reader: Any = StreamReader(KafkaOptions({**given, **options}))
        self.reader.broker = broker
        self.at: Any = {"t": at}

    def ranges(self) -> list[Range]:
        end = self.reader.latestOffset(self.at, self.reader.getDefaultReadLimit())
        parts = self.reader.partitions(self.at, end)
        self.at = end
        return [part.value for part in parts]


Step = tuple[Offsets, str, list[Range]]


@pytest.mark.parametrize(
    ("at", "options", "steps"),
    [
        # A truncated log continues from its new end.
        ({"0": 100}, {}, [({T0: 99}, "id", []), ({T0: 101}, "id", [Range(T0, 99, 101)])]),
        # A partition that is missing in one response continues.
        ({"0": 100}, {}, [({}, "id", []), ({T0: 101}, "id", [Range(T0, 100, 101)])]),
        # A topic that was created again is read from its start.
        ({"0": 100, "1": 100}, {}, [
            ({}, "id", []), ({T0: 130}, "new", []), ({T0: 130}, "new", [Range(T0, 0, 130)]),
            ({T0: 130, T1: 50}, "new", [Range(T1, 0, 50)])]),
        # An end that went back does not wait for minOffsetsPerTrigger.
        ({"0": 100}, {"minOffsetsPerTrigger": "10"}, [
            ({T0: 20}, "new", []), ({T0: 20}, "new", [Range(T0, 0, 20)])]),
    ],
)  # fmt: skip
def test_a_running_stream_finds_truncated_logs_and_new_topics(
    at: dict[str, int], options: dict[str, str], steps: list[Step]
) -> None:
    """Each step: the ends and the topic id of the broker, and the ranges of the micro-batch."""
    broker = OneTopic({Place("t", int(number)): end for number, end in at.items()})
    stream = Stream(broker, at, **options)
    assert stream.ranges() == []
    for broker.ends, broker.topic_id, ranges in steps:
        assert stream.ranges() == ranges


def test_an_end_that_went_back_is_requested_again() -> None:
    broker = OneTopic({T0: 100})
    stream = Stream(broker, {"0": 100})
    broker.early = [{T0: 99}, {T0: 99}]
    assert stream.ranges() == []
    assert stream.at == {"t": {"0": 100}}


def test_available_now_ends_where_the_log_ended_at_its_start() -> None:
    broker = OneTopic({T0: 105, T1: 7})
    broker.early = [{T0: 99, T1: 7}]
    stream = Stream(broker, {"0": 100, "1": 5})
    stream.reader.prepareForTriggerAvailableNow()
    assert stream.ranges() == [Range(T1, 5, 7)]
    assert stream.at == {"t": {"0": 100, "1": 7}}
    assert stream.ranges() == []


@pytest.mark.parametrize(
    ("ends", "failure"), [({T0: 99}, "ends at 99 now"), ({}, "is not there any more")]
)
def test_lost_data_fails_a_stream_by_default(ends: Offsets, failure: str) -> None:
    stream = Stream(OneTopic(ends), {"0": 100}, failOnDataLoss="true")
    with pytest.raises(JobFailed, match=failure):
        stream.ranges()


@pytest.mark.parametrize(("start", "continues_at"), [(0, 0), (60, 90)])
def test_after_a_restart_a_shorter_log_is_new_if_it_starts_at_0(
    start: int, continues_at: int
) -> None:
    broker = OneTopic({T0: 90}, {T0: start})
    stream = Stream(broker, {"0": 100})
    assert stream.ranges() == []
    broker.ends = {T0: 120}
    assert stream.ranges() == [Range(T0, continues_at, 120)]
