from __future__ import annotations

import pytest
from crc32c import crc32c

from domain.configs.topic import TopicConfig
from domain.errors import (
    BrokerError,
    InvalidProducerEpoch,
    InvalidTxnState,
    OutOfOrderSequence,
    TransactionCoordinatorFenced,
)
from domain.messages.batch import HEADER_BYTES, LOG_APPEND_TIME, RecordBatch, parse_single_batch
from domain.messages.control import EndMarker
from domain.partitions.partition import Partition
from tests.fakes.batches import TIMESTAMP, record_batch

PRODUCER, OTHER = 7, 8


class Log:
    """A partition whose batches are durable at once."""

    def __init__(self, **config: bool) -> None:
        self.partition = Partition(1, "t", 0, TopicConfig(**config))  # type: ignore[arg-type]
        self.headers: list[bytes] = []

    def append(
        self, producer_id: int, sequence: int, epoch: int = 0, transactional: bool = True
    ) -> None:
        data = record_batch(
            ["a", "b"],
            producer_id=producer_id,
            epoch=epoch,
            sequence=sequence,
            transactional=transactional,
        )
        batch = parse_single_batch(memoryview(data))
        appended = self.partition.append(batch, TIMESTAMP, crc32c)
        if not appended.duplicate:
            self._committed(batch)

    def end(
        self,
        producer_id: int,
        epoch: int = 0,
        coordinator_epoch: int = 0,
        version: int = 0,
        committed: bool = True,
    ) -> RecordBatch:
        marker = EndMarker(producer_id, epoch, coordinator_epoch, committed)
        batch, _ = self.partition.append_marker(marker, TIMESTAMP + 5, crc32c, version)
        self._committed(batch)
        return batch

    def _committed(self, batch: RecordBatch) -> None:
        self.headers.append(bytes(batch.buffer[:HEADER_BYTES]))
        self.partition.committed(self.partition.end.copy())

    @property
    def stable(self) -> int:
        return self.partition.last_stable_offset


def test_the_last_stable_offset_is_below_the_oldest_open_transaction() -> None:
    log = Log()
    log.append(PRODUCER, 0)
    log.append(OTHER, 0)
    assert (log.stable, log.partition.high_watermark) == (0, 4)
    log.end(PRODUCER)
    assert log.stable == 2
    log.end(OTHER)
    assert log.stable == log.partition.high_watermark == 6


def test_a_marker_that_is_not_durable_holds_the_last_stable_offset() -> None:
    log = Log()
    log.append(PRODUCER, 0)
    log.partition.append_marker(EndMarker(PRODUCER, 0, 0, True), TIMESTAMP, crc32c, 0)
    assert log.stable == 0
    log.partition.committed(log.partition.end.copy())
    assert log.stable == 3


def test_the_last_stable_offset_is_never_below_the_log_start() -> None:
    log = Log()
    log.append(PRODUCER, 0)
    log.append(OTHER, 0)
    log.partition.delete_records(3)
    log.partition.committed(log.partition.end.copy())
    assert log.stable == 3
    log.end(PRODUCER)
    assert log.stable == 3
    log.end(OTHER)
    assert log.stable == 6


def test_a_plain_batch_within_a_transaction_is_refused() -> None:
    log = Log()
    log.append(PRODUCER, 0)
    log.append(OTHER, 0, transactional=False)
    with pytest.raises(InvalidTxnState):
        log.append(PRODUCER, 2, transactional=False)
    log.append(PRODUCER, 0, transactional=False)  # a retry
    log.end(PRODUCER)
    log.append(PRODUCER, 2, transactional=False)


def test_sequences_continue_after_a_marker_of_the_same_epoch() -> None:
    log = Log()
    log.append(PRODUCER, 0)
    log.end(PRODUCER)
    with pytest.raises(OutOfOrderSequence):
        log.append(PRODUCER, 4)
    log.append(PRODUCER, 2)


def test_sequences_begin_at_zero_after_a_marker_of_a_new_epoch() -> None:
    log = Log()
    log.append(PRODUCER, 0)
    log.end(PRODUCER, epoch=1, version=2)
    with pytest.raises(OutOfOrderSequence):
        log.append(PRODUCER, 2, epoch=1)
    with pytest.raises(InvalidProducerEpoch):
        log.append(PRODUCER, 2, epoch=0)
    log.append(PRODUCER, 0, epoch=1)


@pytest.mark.parametrize(
    ("epoch", "coordinator_epoch", "version", "refused"),
    [
        (4, 3, 0, InvalidProducerEpoch),
        (5, 3, 0, None),
        (5, 3, 2, InvalidProducerEpoch),
        (6, 3, 2, None),
        (5, 2, 0, TransactionCoordinatorFenced),
        (5, 4, 0, None),
    ],
)
def test_a_stale_marker_is_refused(
    epoch: int, coordinator_epoch: int, version: int, refused: type[BrokerError] | None
) -> None:
    log = Log()
    log.end(PRODUCER, 5, 3)
    log.append(PRODUCER, 0, epoch=5)
    if refused is None:
        log.end(PRODUCER, epoch, coordinator_epoch, version)
        assert log.stable == log.partition.high_watermark
    else:
        with pytest.raises(refused):
            log.end(PRODUCER, epoch, coordinator_epoch, version)
        assert log.stable == 1


def test_a_repeated_marker_of_version_2_is_accepted() -> None:
    """A coordinator that restarts may not know that a partition has the marker."""
    log = Log()
    log.append(PRODUCER, 0)
    log.end(PRODUCER, 1, version=2)
    log.end(PRODUCER, 1, version=2)


def test_a_marker_has_the_log_append_time_of_its_topic() -> None:
    marker = Log(log_append_time=True).end(PRODUCER)
    assert (marker.attributes & LOG_APPEND_TIME, marker.max_timestamp) == (8, TIMESTAMP + 5)
    marker.check_crc(crc32c)


def facts(partition: Partition) -> tuple[object, ...]:
    producers = sorted(
        (state.producer_id, state.epoch, len(state.batches)) for state in partition.producers
    )
    return partition.last_stable_offset, [one[:2] for one in partition.transactions], producers


def test_transactions_are_restored_from_the_headers_of_the_log() -> None:
    log = Log()
    log.append(PRODUCER, 0)
    log.append(OTHER, 0)
    log.end(PRODUCER, epoch=1, committed=False)
    log.append(PRODUCER, 0, epoch=1)
    again = Partition(1, "t", 0, TopicConfig())
    for header in log.headers:
        again.replay(header)
    assert facts(again) == facts(log.partition)
    assert again.last_stable_offset == 2
    assert again.transactions.last_aborted_offset == 4  # of any marker


def test_a_producer_with_an_open_transaction_does_not_expire() -> None:
    log = Log()
    log.append(PRODUCER, 0)
    log.append(OTHER, 0)
    log.end(OTHER)
    partition = log.partition
    assert partition.producers.expire(TIMESTAMP + 6, spared=partition.transactions) == 1
    assert PRODUCER in partition.producers


def test_delayed_fetches_count_the_bytes_below_the_last_stable_offset() -> None:
    log = Log()
    log.append(PRODUCER, 0, transactional=False)
    stable = log.partition.durable.stable_bytes
    assert stable == log.partition.durable.appended_bytes
    log.append(PRODUCER, 2)
    log.append(OTHER, 0, transactional=False)
    assert log.partition.durable.stable_bytes == stable
    log.end(PRODUCER)
    assert log.partition.durable.stable_bytes == log.partition.durable.appended_bytes
