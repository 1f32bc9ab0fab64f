from __future__ import annotations

import pytest
from crc32c import crc32c

from application.background.runner import SLICE_NS
from application.partitions import list_offsets
from application.partitions.delete_records import RecordsToDelete
from application.partitions.list_offsets import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    FoundOffset,
    Search,
)
from domain.partitions.partition import INDEX_INTERVAL_BYTES, UP_TO_HIGH_WATERMARK
from tests.fakes.batches import (
    GZIP,
    LZ4,
    NONE,
    SNAPPY,
    TIMESTAMP,
    ZSTD,
    Record,
    record_batch,
    records_section,
)
from tests.fakes.broker import FakeBroker, FlakyLogStore, with_topic
from tests.fakes.compaction import compact

NOTHING = (-1, -1, -1)


def find(fake: FakeBroker, timestamp: int, name: str = "t") -> tuple[int, int, int]:
    service = fake.broker.messages.list_offsets
    found = service.find(fake.partition(name), timestamp, False)
    if isinstance(found, Search):
        if service.complete([found]) is not None:
            fake.run()
        assert isinstance(found.result, FoundOffset)
        found = found.result
    return found.offset, found.timestamp, found.leader_epoch


def at(*times: int, codec: int = NONE, value: str = "v") -> bytearray:
    rows: list[Record] = [("k", value, (), TIMESTAMP + time) for time in times]
    return record_batch(rows, codec=codec)


def with_attributes(batch: bytearray, attributes: int) -> bytearray:
    batch[21:23] = attributes.to_bytes(2, "big")
    batch[17:21] = crc32c(bytes(batch[21:])).to_bytes(4, "big")
    return batch


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic()


def test_only_durable_records_are_found(fake: FakeBroker) -> None:
    fake.appended(at(0))
    fake.append(at(5))
    assert find(fake, LATEST) == (1, -1, 0)
    assert find(fake, MAX_TIMESTAMP) == (0, TIMESTAMP, 0)
    assert find(fake, TIMESTAMP + 1) == NOTHING


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_timestamp_finds_the_first_record_at_or_after_it(fake: FakeBroker, codec: int) -> None:
    fake.appended(at(0, 10, 20, codec=codec))
    fake.appended(at(30, 40, codec=codec))
    for time, offset, found in (
        *((-5, 0, 0), (0, 0, 0), (1, 1, 10), (10, 1, 10), (11, 2, 20), (20, 2, 20)),
        *((21, 3, 30), (30, 3, 30), (35, 4, 40), (40, 4, 40)),
    ):
        assert find(fake, TIMESTAMP + time) == (offset, TIMESTAMP + found, 0)
    assert find(fake, TIMESTAMP + 41) == NOTHING
    assert find(fake, 0) == (0, TIMESTAMP, 0)


@pytest.mark.parametrize("codec", [NONE, ZSTD])
def test_max_timestamp_finds_the_first_record_that_has_it(fake: FakeBroker, codec: int) -> None:
    fake.appended(at(0, 10))
    fake.appended(at(5, 90, 90, codec=codec))
    fake.appended(at(90, 20))
    assert find(fake, MAX_TIMESTAMP) == (3, TIMESTAMP + 90, 0)


def test_many_older_timestamps_are_skipped_by_the_index(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old data is copied into a log that has newer data already."""
    fake.appended(at(0))
    fake.appended(at(10))
    for _ in range(60):
        fake.appended(record_batch(["x" * 8192], timestamp=TIMESTAMP - 1000))
    fake.appended(at(20))
    read: list[int] = []
    headers = FlakyLogStore.headers

    def counted(log: FlakyLogStore, partition_id: int, offset: int, limit: int) -> list[bytes]:
        read.append(offset)
        return headers(log, partition_id, offset, limit)

    monkeypatch.setattr(FlakyLogStore, "headers", counted)
    assert find(fake, TIMESTAMP + 15) == (62, TIMESTAMP + 20, 0)
    assert min(read) > 50


def test_a_timestamp_is_found_by_the_index_of_a_long_log(fake: FakeBroker) -> None:
    value = "x" * (INDEX_INTERVAL_BYTES // 3)
    for time in range(0, 400, 10):
        fake.appended(at(time, value=value))
    assert fake.log.at_timestamp(0, TIMESTAMP + 300) > 20
    for time in (0, 1, 150, 151, 299, 300, 390):
        offset = -(-time // 10)
        assert find(fake, TIMESTAMP + time) == (offset, TIMESTAMP + offset * 10, 0)
    assert find(fake, TIMESTAMP + 391) == NOTHING


def test_a_search_reads_headers_more_than_once(fake: FakeBroker) -> None:
    for _ in range(600):
        assert not isinstance(fake.append(at(0)), Exception)
    fake.run()
    fake.appended(at(9))
    assert find(fake, TIMESTAMP + 9) == (600, TIMESTAMP + 9, 0)


def test_a_batch_whose_max_timestamp_is_too_large_is_passed_over(
    fake: FakeBroker,
) -> None:
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP, max_timestamp=TIMESTAMP + 100))
    fake.appended(at(60))
    assert find(fake, TIMESTAMP + 50) == (1, TIMESTAMP + 60, 0)
    assert find(fake, TIMESTAMP + 61) == NOTHING


def test_a_batch_that_cannot_be_decoded_is_found_by_its_header(fake: FakeBroker) -> None:
    """The checksum is right and the records are invalid: such a batch is stored unchanged."""
    fake.appended(record_batch(["a"], payload=b"\xff" * 40, max_timestamp=TIMESTAMP + 100))
    fake.appended(record_batch(["a"], codec=GZIP, timestamp=TIMESTAMP + 60))
    fake.appended(with_attributes(record_batch(["plain"], timestamp=TIMESTAMP + 60), GZIP))
    fake.appended(at(70))
    assert find(fake, TIMESTAMP + 50) == (1, TIMESTAMP + 60, 0)
    assert find(fake, TIMESTAMP + 65) == (3, TIMESTAMP + 70, 0)
    assert find(fake, MAX_TIMESTAMP) == (0, TIMESTAMP + 100, 0)


def test_a_record_with_an_offset_outside_its_batch_is_not_found(fake: FakeBroker) -> None:
    section = records_section([(None, b"v", (), TIMESTAMP + 90)] * 40, TIMESTAMP)
    only_the_last = section[-len(section) // 40 :]
    assert only_the_last[4] == 2 * 39, "its offset delta"
    fake.appended(at(0))
    fake.appended(record_batch(["v"], payload=only_the_last, max_timestamp=TIMESTAMP + 90))
    fake.appended(at(80))
    assert find(fake, TIMESTAMP + 50) == (2, TIMESTAMP + 80, 0)
    assert find(fake, MAX_TIMESTAMP) == (1, TIMESTAMP + 90, 0)


def test_with_log_append_time_a_batch_has_one_timestamp(fake: FakeBroker) -> None:
    fake.topic("stamped", message_timestamp_type="LogAppendTime")
    now_ms = fake.clock.now_ms()
    for _ in range(2):
        fake.appended(at(-50, 3, 99, codec=GZIP), "stamped")
        fake.clock.advance(10)
    assert find(fake, now_ms, "stamped") == (0, now_ms, 0)
    assert find(fake, now_ms + 1, "stamped") == (3, now_ms + 10, 0)
    assert find(fake, MAX_TIMESTAMP, "stamped") == (3, now_ms + 10, 0)
    assert find(fake, now_ms + 11, "stamped") == NOTHING


def test_timestamps_are_found_after_a_restart(fake: FakeBroker) -> None:
    fake.appended(at(0, 90, 20))
    fake.appended(at(30))
    again = fake.restarted()
    assert find(again, MAX_TIMESTAMP) == (1, TIMESTAMP + 90, 0)
    assert find(again, TIMESTAMP + 1) == (1, TIMESTAMP + 90, 0)


@pytest.fixture(params=["still there", "removed"])
def removed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "removed")


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


@pytest.mark.parametrize("left", ["nothing", "an empty batch", "another record"])
def test_max_timestamp_is_that_of_the_records_that_compaction_retains(
    fake: FakeBroker, left: str
) -> None:
    for time in (5, 90, 10):
        fake.appended(at(time))
    partition = fake.partition()
    batch = at(90) if left == "an empty batch" else at(7)
    batch[:8] = (1).to_bytes(8, "big")
    if left == "an empty batch":
        batch[57:61] = bytes(4)
    fake.core.storage.log.replace(
        partition.partition_id, 1, 1, [] if left == "nothing" else [batch], []
    )
    partition.compacted(0)
    fake.broker.commits.touch(partition)
    fake.run()

    assert find(fake, MAX_TIMESTAMP) == (2, TIMESTAMP + 10, 0)
    assert find(fake, TIMESTAMP + 8) == (2, TIMESTAMP + 10, 0)
    fake.appended(at(50))
    assert find(fake, MAX_TIMESTAMP) == (3, TIMESTAMP + 50, 0)


def test_with_log_append_time_the_first_record_that_compaction_left_is_found(
    fake: FakeBroker,
) -> None:
    fake.topic("stamped", message_timestamp_type="LogAppendTime")
    now_ms = fake.clock.now_ms()
    fake.appended(record_batch([(key, "v", (), 0) for key in "abc"]), "stamped")
    fake.clock.advance(10)
    fake.appended(record_batch([(key, "v", (), 0) for key in "ad"]), "stamped")
    fake.appended(record_batch([("d", "v", (), 0)]), "stamped")
    compact(fake, 5, "stamped")
    assert find(fake, now_ms, "stamped") == (1, now_ms, 0)
    assert find(fake, now_ms + 1, "stamped") == (3, now_ms + 10, 0)
    assert find(fake, MAX_TIMESTAMP, "stamped") == (3, now_ms + 10, 0)
