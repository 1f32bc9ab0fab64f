from __future__ import annotations

import pytest

from domain.cluster.nodes import Leader
from domain.errors import FencedLeaderEpoch, OffsetOutOfRange, UnknownLeaderEpoch
from domain.partitions.leader_epochs import UNKNOWN_END, EpochEnd, LeaderEpochs
from tests.fakes.batches import record_batch
from tests.unit.domain.partitions.test_partition import append, new_partition

EPOCHS = LeaderEpochs([(0, 0), (2, 10), (5, 25)])


@pytest.mark.parametrize(
    "epoch, end",
    [
        (-1, UNKNOWN_END),
        (6, UNKNOWN_END),
        (5, EpochEnd(5, 40)),
        (4, EpochEnd(2, 25)),
        (2, EpochEnd(2, 25)),
        (0, EpochEnd(0, 10)),
    ],
)
def test_an_epoch_ends_where_the_next_starts(epoch: int, end: EpochEnd) -> None:
    assert EPOCHS.end_of(epoch, 40) == end


def test_an_epoch_before_the_first_ends_at_the_log_start() -> None:
    assert LeaderEpochs([(3, 7)]).end_of(1, 40) == EpochEnd(1, 7)


@pytest.mark.parametrize("offset, epoch", [(0, 0), (9, 0), (10, 2), (24, 2), (25, 5), (99, 5)])
def test_an_offset_has_an_epoch(offset: int, epoch: int) -> None:
    assert EPOCHS.at(offset) == epoch


def test_an_epoch_without_a_batch_is_replaced() -> None:
    epochs = LeaderEpochs([(0, 0), (1, 8)])
    epochs.begin(2, 8)
    assert epochs.starts() == [(0, 0), (2, 8)]
    assert epochs.end_of(1, 9) == EpochEnd(0, 8)


def test_epochs_of_deleted_records_are_removed() -> None:
    epochs = LeaderEpochs([(0, 0), (2, 10), (5, 25)])
    epochs.trim(12)
    assert epochs.starts() == [(2, 10), (5, 25)]


def test_a_partition_restores_epochs_from_headers() -> None:
    partition, again = new_partition(), new_partition()
    for epoch in (0, 3):
        partition.lead(Leader(1, epoch))
        batch = record_batch(["a", "b"])
        append(partition, batch)
        again.replay(bytes(batch[:61]))
    assert again.leader_epochs.starts() == [(0, 0), (3, 2)]


def test_a_client_of_another_epoch_is_refused() -> None:
    partition = new_partition()
    partition.lead(Leader(1, 3))
    partition.check_leader_epoch(3)
    with pytest.raises(FencedLeaderEpoch) as fenced:
        partition.check_leader_epoch(2)
    assert fenced.value.leader == Leader(1, 3)
    with pytest.raises(UnknownLeaderEpoch):
        partition.check_leader_epoch(4)


@pytest.mark.parametrize(
    "fetched_epoch, offset, diverging",
    [
        (0, 4, None),  # the end of the epoch
        (0, 5, EpochEnd(0, 4)),
        (1, 4, EpochEnd(0, 4)),  # no record here has epoch 1 or 2
        (2, 3, EpochEnd(0, 4)),
        (3, 6, None),
        (3, 7, EpochEnd(3, 6)),
        (0, 1, None),  # below the log start
        (2, 1, None),
    ],
)
def test_a_log_diverges_if_the_epoch_ended_before_the_offset(
    fetched_epoch: int, offset: int, diverging: EpochEnd | None
) -> None:
    partition = new_partition()
    for epoch in (0, 3):
        partition.lead(Leader(1, epoch))
        append(partition, record_batch(["a", "b"] if epoch else ["a", "b", "c", "d"]))
    partition.move_log_start(2)
    partition.committed(partition.end.copy())
    assert partition.diverging_epoch(fetched_epoch, offset) == diverging


@pytest.mark.parametrize("offset", [0, 2, 9])
def test_an_epoch_that_is_not_known_is_out_of_range(offset: int) -> None:
    partition = new_partition()
    partition.lead(Leader(1, 3))
    with pytest.raises(OffsetOutOfRange):
        partition.diverging_epoch(4, offset)
