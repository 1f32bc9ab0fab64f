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


def running(broker: OneTopic, at: dict[str, int], **options: str) -> Stream:
    """A stream that has read everything and knows the topic's id."""
    stream = Stream(broker, at, **options)
    assert stream.ranges() == []
    return stream


def test_a_truncated_log_continues_from_its_new_end() -> None:
    broker = OneTopic({T0: 100})
    stream = running(broker, {"0": 100})
    broker.ends = {T0: 99}
    assert stream.ranges() == []
    broker.ends = {T0: 101}
    assert stream.ranges() == [Range(T0, 99, 101)]


def test_an_end_that_went_back_is_requested_again() -> None:
    broker = OneTopic({T0: 100})
    stream = running(broker, {"0": 100})
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


def test_a_partition_missing_in_one_response_is_not_read_again() -> None:
    broker = OneTopic({T0: 100})
    stream = running(broker, {"0": 100})
    broker.ends = {}
    assert stream.ranges() == []
    broker.ends = {T0: 101}
    assert stream.ranges() == [Range(T0, 100, 101)]


def test_lost_data_is_a_failure_by_default() -> None:
    for ends, says in (({T0: 99}, "ends at 99 now"), ({}, "is not there any more")):
        stream = Stream(OneTopic(ends), {"0": 100}, failOnDataLoss="true")
        with pytest.raises(JobFailed, match=says):
            stream.ranges()


def test_a_topic_that_was_created_again_is_read_from_its_start() -> None:
    broker = OneTopic({T0: 100, T1: 100})
    stream = running(broker, {"0": 100, "1": 100})
    broker.ends = {}
    assert stream.ranges() == []
    broker.ends, broker.topic_id = {T0: 130}, "another"
    assert stream.ranges() == []
    assert stream.ranges() == [Range(T0, 0, 130)]
    broker.ends = {T0: 130, T1: 50}
    assert stream.ranges() == [Range(T1, 0, 50)]


def test_an_end_that_went_back_does_not_wait_for_min_offsets() -> None:
    broker = OneTopic({T0: 100})
    stream = running(broker, {"0": 100}, minOffsetsPerTrigger="10")
    broker.ends, broker.topic_id = {T0: 20}, "another"
    assert stream.ranges() == []
    assert stream.ranges() == [Range(T0, 0, 20)]


@pytest.mark.parametrize(("start", "goes_on_at"), [(0, 0), (60, 90)])
def test_after_a_restart_a_shorter_log_is_new_if_it_starts_at_0(
    start: int, goes_on_at: int
) -> None:
    broker = OneTopic({T0: 90}, {T0: start})
    stream = Stream(broker, {"0": 100})
    assert stream.ranges() == []
    broker.ends = {T0: 120}
    assert stream.ranges() == [Range(T0, goes_on_at, 120)]
