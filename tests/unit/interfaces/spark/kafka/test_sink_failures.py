"""Failures of records that a broker or the producer's queue refuses."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError

from interfaces.spark.kafka import sink_sending
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_sending import Sending
from interfaces.spark.query.failures import JobFailed

OF_ANOTHER = KafkaError._INVALID_DIFFERENT_RECORD


class Report:
    """The message of a delivery report."""

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 0

    def key(self) -> None: ...

    def value(self) -> None: ...


class Full:
    """A producer whose queue is full `times`, and empty after the first poll."""

    def __init__(self, times: int) -> None:
        self.times, self.waiting, self.taken = times, 1, 0

    def __len__(self) -> int:
        return self.waiting

    def produce(self, *row: Any) -> None:
        if self.times:
            self.times -= 1
            raise BufferError
        self.taken += 1

    def poll(self, timeout: float) -> int:
        self.waiting = 0
        return 0

    def purge(self, blocking: bool) -> None:
        self.times = 0


@pytest.fixture
def sending(monkeypatch: pytest.MonkeyPatch) -> Any:
    def nobody_looks(servers: str) -> None:
        assert servers == "b:1"

    monkeypatch.setattr(sink_sending, "look", nobody_looks)
    made: Any = Sending(KafkaOptions({"kafka.bootstrap.servers": "b:1"}))
    made._topics.add("t")
    return made


def test_the_reason_is_that_of_the_refused_record_of_a_batch(sending: Any) -> None:
    reasons = (OF_ANOTHER, OF_ANOTHER, KafkaError.INVALID_RECORD, OF_ANOTHER, KafkaError.NO_ERROR)
    for code in reasons:
        sending.delivered(KafkaError(code), Report())
    with pytest.raises(JobFailed, match=r"\(INVALID_RECORD\): "):
        sending._check()


def test_the_first_failure_is_reported(sending: Any) -> None:
    for code in (KafkaError.INVALID_TIMESTAMP, OF_ANOTHER, KafkaError._MSG_TIMED_OUT):
        sending.delivered(KafkaError(code), Report())
    with pytest.raises(JobFailed, match=r"\(INVALID_TIMESTAMP\): "):
        sending._check()


def test_a_record_larger_than_the_queue_fails(sending: Any) -> None:
    sending._made = Full(times=10)
    with pytest.raises(JobFailed, match=r"5 bytes .* kafka\.buffer\.memory"):
        sending.send({"t"}, [("t", b"value", None, -1)])


def test_a_record_waits_for_room_in_the_queue(sending: Any) -> None:
    sending._made = producer = Full(times=2)
    sending.send({"t"}, [("t", b"value", None, -1)])
    assert producer.taken == 1
