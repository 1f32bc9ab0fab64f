"""ListOffsets after DeleteRecords, before and after the batches are removed."""

from __future__ import annotations

import pytest

from application.background.runner import SLICE_NS
from application.partitions import list_offsets
from application.partitions.delete_records import RecordsToDelete
from application.partitions.list_offsets import EARLIEST, LATEST, MAX_TIMESTAMP
from domain.partitions.partition import UP_TO_HIGH_WATERMARK
from tests.fakes.batches import GZIP, NONE, TIMESTAMP
from tests.fakes.broker import FakeBroker
from tests.unit.application.partitions.test_list_offsets import NOTHING, at, find


@pytest.fixture(params=["still there", "removed"])
def removed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "removed")


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t")
    return fake


def delete(fake: FakeBroker, offset: int, removed: bool) -> None:
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, offset)])
    fake.run()
    if removed:
        fake.scheduler.advance(100)


@pytest.mark.parametrize("codec", [NONE, GZIP])
def test_deleted_records_are_not_found(fake: FakeBroker, removed: bool, codec: int) -> None:
    fake.appended(at(0, 10, 20, codec=codec))
    fake.appended(at(30, 40, codec=codec))
    delete(fake, 1, removed)
    assert find(fake, EARLIEST) == (1, -1, 0)
    assert find(fake, 0) == find(fake, TIMESTAMP) == (1, TIMESTAMP + 10, 0)
    delete(fake, 4, removed)
    assert find(fake, TIMESTAMP + 5) == (4, TIMESTAMP + 40, 0)
    assert find(fake, TIMESTAMP + 41) == NOTHING
    delete(fake, UP_TO_HIGH_WATERMARK, removed)
    assert find(fake, EARLIEST) == find(fake, LATEST) == (5, -1, 0)
    assert find(fake, TIMESTAMP) == NOTHING


def test_max_timestamp_is_that_of_the_remaining_records(fake: FakeBroker, removed: bool) -> None:
    for times in ((90,), (20, 80, 30), (10, 40), (40, 35)):
        fake.appended(at(*times))
    largest = {0: (0, 90), 1: (2, 80), 2: (2, 80), 3: (5, 40), 5: (5, 40), 6: (6, 40), 7: (7, 35)}
    for offset, (found, time) in largest.items():
        delete(fake, offset, removed)
        for _ in range(2):
            assert find(fake, MAX_TIMESTAMP) == (found, TIMESTAMP + time, 0)
    delete(fake, UP_TO_HIGH_WATERMARK, removed)
    assert find(fake, MAX_TIMESTAMP) == NOTHING


def test_max_timestamp_is_searched_in_slices(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_offsets, "HEADERS_AT_ONCE", 2)
    fake.clock.look_ns = SLICE_NS
    for time in (90, 1, 2, 7, 4, 5):
        fake.appended(at(time))
    delete(fake, 1, True)
    service = fake.broker.messages.list_offsets
    search = service.find(fake.partition(), MAX_TIMESTAMP, False)
    assert isinstance(search, list_offsets.Search)
    assert service.complete([search]) is not None
    delete(fake, 4, True)
    fake.run()
    assert isinstance(search.result, list_offsets.FoundOffset)
    assert search.result.offset == 5
