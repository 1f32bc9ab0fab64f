"""A task whose partition leader has no high watermark yet."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message

from interfaces.spark.kafka import reading
from interfaces.spark.kafka.consumers import Reader
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import JobFailed
from interfaces.spark.query.ranges import Place, Range

pytest.importorskip("pyarrow", reason="needs what comes with Spark")
pytest.importorskip("numpy", reason="needs what comes with Spark")

RANGE = Range(Place("t", 0), 0, 100)
FETCHED = 80


def message(offset: int, error: KafkaError | None = None) -> Any:
    return Message(topic="t", partition=0, offset=offset, value=b"v", error=error)


class Leader:
    """A consumer that returns 80 of 100 records and then the end of the partition. `ends` are the
    log end offsets of its requests, one after the other; None: not available."""

    def __init__(self, *ends: int | None) -> None:
        self._ends = list(ends)
        self._waiting = [message(offset) for offset in range(FETCHED)]
        self._waiting.append(message(FETCHED, KafkaError(KafkaError._PARTITION_EOF)))

    def assign(self, places: object) -> None:
        """From the start, always."""

    def consume(self, most: int, timeout: float) -> list[Any]:
        given, self._waiting = self._waiting, []
        return given

    def get_watermark_offsets(self, place: object, timeout: float) -> tuple[int, int]:
        end = self._ends.pop(0) if len(self._ends) > 1 else self._ends[0]
        if end is None:
            raise KafkaException(KafkaError(KafkaError.OFFSET_NOT_AVAILABLE))
        if end > FETCHED:
            self._waiting = [message(offset) for offset in range(FETCHED, end)]
        return 0, end

    def list_topics(self, topic: str, timeout: float) -> None:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))


def rows(leader: Any, monkeypatch: pytest.MonkeyPatch, **more: str) -> int:
    monkeypatch.setattr(reading, "_LOOK_AGAIN_S", 0.0)
    monkeypatch.setattr("confluent_kafka.Consumer", lambda settings: leader)
    options = KafkaOptions({"kafka.bootstrap.servers": "b:1", "subscribe": "t", **more})
    return sum(map(len, reading._Reading(options, Reader(options, "g"), RANGE).batches()))


@pytest.mark.parametrize("fail_on_loss", ["true", "false"])
def test_an_early_end_of_partition_is_confirmed_by_the_leader(
    fail_on_loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rows(Leader(None, None, 100), monkeypatch, failOnDataLoss=fail_on_loss) == 100


def test_the_end_that_the_leader_confirms_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows(Leader(None, FETCHED), monkeypatch, failOnDataLoss="false") == FETCHED
    with pytest.raises(JobFailed, match=r"^t-0 ends at offset 80, before 100"):
        rows(Leader(FETCHED), monkeypatch)


@pytest.mark.parametrize("fail_on_loss", ["true", "false"])
def test_a_leader_that_never_confirms_the_end_fails_the_task(
    fail_on_loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = {"kafkaConsumer.pollTimeoutMs": "50", "failOnDataLoss": fail_on_loss}
    with pytest.raises(JobFailed, match=r"^t-0: .* at offset 80"):
        rows(Leader(None), monkeypatch, **patience)
