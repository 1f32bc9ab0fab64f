"""Fetches with the leader epoch of the client's last record (KIP-595).

Offsets 0 to 2 are of leader epoch 0, 3 and 4 of epoch 4.
"""

from __future__ import annotations

import pytest

from application.partitions.delete_records import RecordsToDelete
from application.partitions.fetch_query import FetchItem
from domain.cluster.nodes import Leader
from domain.errors import (
    NotLeaderOrFollower,
    OffsetOutOfRange,
    UnknownLeaderEpoch,
    UnknownTopicOrPartition,
)
from domain.partitions.leader_epochs import EpochEnd
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.unit.application.partitions.test_fetch import MANY, NO_ID, Fetch, query
from tests.unit.application.partitions.test_fetch import item as without_epoch


@pytest.fixture
def fake() -> FakeBroker:
    fake = with_topic(2)
    fake.appended(record_batch(["a", "b", "c"]))
    fake.placement.move(fake.existing().partition_ids[0], Leader(1, 4))
    fake.appended(record_batch(["d", "e"]))
    return fake


def item(last: int, offset: int, current: int = -1, index: int = 0) -> FetchItem:
    return FetchItem("t", NO_ID, index, offset, MANY, current, last)


@pytest.mark.parametrize(
    ("last", "offset", "end"),
    [
        (0, 4, EpochEnd(0, 3)),
        (3, 3, EpochEnd(0, 3)),
        (4, 6, EpochEnd(4, 5)),
        (4, 99, EpochEnd(4, 5)),
    ],
)
def test_a_client_whose_log_diverges_gets_the_end_of_the_epoch_at_once(
    fake: FakeBroker, last: int, offset: int, end: EpochEnd
) -> None:
    fetch = Fetch(fake, query(item(last, offset), without_epoch(1), min_bytes=MANY))
    assert fetch.got is not None
    found = fetch.got[0]
    assert (found.diverging_epoch, found.error, bytes(found.records)) == (end, None, b"")
    assert (found.high_watermark, found.last_stable_offset, found.log_start_offset) == (5, 5, 0)


@pytest.mark.parametrize(("last", "offset"), [(0, 0), (0, 2), (0, 3), (4, 3), (-1, 0), (-2, 3)])
def test_a_client_whose_log_is_the_same_gets_records(
    fake: FakeBroker, last: int, offset: int
) -> None:
    fetch = Fetch(fake, query(item(last, offset)))
    assert fetch.only.diverging_epoch is None
    assert fetch.offsets()[0][0] == (0 if offset < 3 else 3)


def test_a_client_at_the_end_of_its_epoch_waits(fake: FakeBroker) -> None:
    fetch = Fetch(fake, query(item(4, 5)))
    assert fetch.waits
    fake.appended(record_batch(["f"]))
    assert fetch.offsets() == [[5]]


@pytest.mark.parametrize(("last", "offset"), [(5, 3), (5, 99), (4, -1), (0, -1)])
def test_epochs_and_offsets_that_are_not_known_are_out_of_range(
    fake: FakeBroker, last: int, offset: int
) -> None:
    assert Fetch(fake, query(item(last, offset))).errors() == [OffsetOutOfRange]


def test_an_offset_below_the_log_start_does_not_diverge(fake: FakeBroker) -> None:
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 2)])
    fake.run()
    for last in (0, 2):
        assert Fetch(fake, query(item(last, 1))).errors() == [OffsetOutOfRange]
    assert Fetch(fake, query(item(2, 2))).only.diverging_epoch == EpochEnd(0, 3)


def test_the_current_epoch_is_checked_first(fake: FakeBroker) -> None:
    assert Fetch(fake, query(item(5, 0, current=5))).errors() == [UnknownLeaderEpoch]
    assert Fetch(fake, query(item(5, 0, index=9), wait_ms=0)).errors() == [UnknownTopicOrPartition]


def test_a_response_with_a_diverging_epoch_waits_for_no_records_from_the_disk(
    fake: FakeBroker,
) -> None:
    fake.log.wait_in("read")
    fetch = Fetch(fake, query(without_epoch(0), item(0, 4)))
    assert fetch.got is not None
    assert [one.diverging_epoch for one in fetch.got] == [None, EpochEnd(0, 3)]


@pytest.mark.parametrize(
    "one", [without_epoch(offset=6), without_epoch(offset=-1), item(0, 4), item(4, 6), item(5, 3)]
)
def test_without_a_lease_no_record_is_taken_for_gone(fake: FakeBroker, one: FetchItem) -> None:
    """The next leader may have it, and its epoch: the client would go back."""
    fake.placement.has_lease = False
    assert Fetch(fake, query(one)).errors() == [NotLeaderOrFollower]


@pytest.mark.parametrize("one", [without_epoch(), item(4, 3)])
def test_without_a_lease_committed_records_are_served(fake: FakeBroker, one: FetchItem) -> None:
    fake.placement.has_lease = False
    assert Fetch(fake, query(one)).offsets() != [[]]
