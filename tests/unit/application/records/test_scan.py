from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from application.partitions.delete_records import RecordsToDelete
from application.records.cursor import read_cursor, write_cursor
from application.records.filter import ALL_RECORDS, HeaderFilter, RecordFilter
from application.records.plan import MAX_PARTITIONS, ScanPlan
from application.records.scan import BatchTooLarge, FoundRecord, Scan
from domain.errors import InvalidRequest, UnknownTopicOrPartition
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.batches import GZIP, LZ4, SNAPPY, TIMESTAMP, ZSTD, Record, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.compaction import compact


def rec(value: str, at: int = 0, key: str | None = None, **headers: str) -> Record:
    pairs = [(name, content.encode()) for name, content in headers.items()]
    return (key, value, pairs, TIMESTAMP + at)


class Reader:
    def __init__(self) -> None:
        self.fake = FakeBroker()

    def plan(
        self,
        topic: str = "t",
        partitions: list[int] | None = None,
        offset: int | None = None,
        cursor: str | None = None,
        conditions: RecordFilter = ALL_RECORDS,
        **options: Any,
    ) -> ScanPlan:
        plan = ScanPlan([], conditions, **options)
        return self.fake.broker.messages.browse.plan(topic, partitions, plan, offset, cursor)

    def scan(self, plan: ScanPlan, heavy: int | None = None) -> tuple[Scan, list[FoundRecord]]:
        found: list[FoundRecord] = []

        def take(one: FoundRecord) -> int:
            found.append(one)
            return len(one.message.value or b"")

        return Scan(plan, self.fake.log, BatchCompression(), take, heavy), found

    def read(self, **query: Any) -> list[str]:
        scan, found = self.scan(self.plan(**query))
        for _ in scan.steps():
            pass
        self.end = scan.end(scan.reason())
        return [(one.message.value or b"-").decode() for one in found]


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    reader.fake.close()


@pytest.fixture
def three(reader: Reader) -> Reader:
    """One partition, three batches of three, three codecs."""
    reader.fake.topic("t")
    for codec, names in ((ZSTD, "abc"), (GZIP, "def"), (LZ4, "ghi")):
        records = [rec(name, at=ord(name)) for name in names]
        reader.fake.appended(record_batch(records, codec=codec))
    return reader


def test_a_scan_returns_all_records(three: Reader) -> None:
    assert three.read() == list("abcdefghi")
    assert (three.end.reason, three.end.found, three.end.scanned) == ("end", 9, 9)
    assert all(each.is_done for each in three.end.ranges)


def test_a_scan_can_start_at_the_end(three: Reader) -> None:
    assert three.read(newest_first=True) == list("ihgfedcba")
    assert three.read(newest_first=True, limit=4) == list("ihgf")
    assert three.end.reason == "limit"
    [left] = three.end.ranges
    assert (left.start, left.end) == (0, 5)


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 8, 9])
def test_pages_have_no_gaps(three: Reader, newest_first: bool, limit: int) -> None:
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(10):
        page = three.read(newest_first=newest_first, limit=limit, cursor=cursor)
        assert len(page) <= limit
        seen += page
        cursor = write_cursor(three.end.ranges, newest_first)
        if cursor is None:
            break
    assert seen == sorted("abcdefghi", reverse=newest_first)
    assert cursor is None


def test_a_scan_can_start_within_a_batch(three: Reader) -> None:
    assert three.read(offset=4) == list("efghi")
    assert three.read(offset=4, newest_first=True) == list("edcba")
    assert three.read(offset=100) == []
    assert three.read(offset=100, newest_first=True, limit=1) == ["i"]


def test_a_scan_can_have_a_time_range(three: Reader) -> None:
    def between(first: str, last: str) -> RecordFilter:
        return RecordFilter(start_ms=TIMESTAMP + ord(first), end_ms=TIMESTAMP + ord(last))

    assert three.read(conditions=between("c", "e")) == list("cde")
    assert three.read(conditions=between("c", "e"), newest_first=True) == list("edc")
    assert three.read(conditions=between("j", "z")) == []
    assert three.end.scanned == 9 or three.end.reason == "end"


def test_batches_after_the_end_of_a_time_range_are_not_read(three: Reader) -> None:
    assert three.read(conditions=RecordFilter(end_ms=TIMESTAMP + ord("b"))) == list("ab")
    assert three.end.scanned == 3


def test_a_page_is_limited_in_bytes_but_has_one_record(reader: Reader) -> None:
    reader.fake.topic("t")
    reader.fake.appended(record_batch([rec("x" * 100), rec("y" * 100), rec("z" * 100)]))
    assert len(reader.read(max_bytes=1)) == 1
    assert reader.end.reason == "bytes"
    assert len(reader.read(max_bytes=150)) == 2


@pytest.mark.parametrize(
    "conditions, found",
    [
        (RecordFilter(key=b"one"), ["1"]),
        (RecordFilter(key=b"on"), []),
        (RecordFilter(key=b""), ["4"]),
        (RecordFilter(in_key=b"o"), ["1", "two"]),
        (RecordFilter(in_value=b"two"), ["two"]),
        (RecordFilter(anywhere=b"two"), ["two", "3"]),
        (RecordFilter(in_headers=b"two"), ["3"]),
        (RecordFilter(headers=(HeaderFilter(b"kind"),)), ["1", "3"]),
        (RecordFilter(headers=(HeaderFilter(b"kind", b"two"),)), ["3"]),
        (RecordFilter(headers=(HeaderFilter(b"two"),)), []),
        (RecordFilter(in_key=b"o", in_value=b"w"), ["two"]),
    ],
)
def test_records_match_conditions(
    reader: Reader, conditions: RecordFilter, found: list[str]
) -> None:
    reader.fake.topic("t")
    records = [
        rec("1", key="one", kind="first"),
        rec("two", key="otto"),
        rec("3", kind="two"),
        rec("4", key=""),
    ]
    reader.fake.appended(record_batch(records, codec=SNAPPY))
    assert reader.read(conditions=conditions) == found
    assert reader.read(conditions=conditions, newest_first=True) == found[::-1]
    assert reader.end.scanned == 4


def test_null_matches_no_text(reader: Reader) -> None:
    reader.fake.topic("t")
    reader.fake.appended(record_batch([(None, None, [("h", None)], TIMESTAMP), rec("a")]))
    assert reader.read(conditions=RecordFilter(anywhere=b"a")) == ["a"]
    assert reader.read() == ["-", "a"]


def test_partitions_are_merged_by_time(reader: Reader) -> None:
    reader.fake.topic("t", 3)
    for index, times in enumerate([(1, 4, 7), (2, 5, 8), (3, 6, 9)]):
        for at in times:
            reader.fake.appended(record_batch([rec(str(at), at)]), index=index)
    assert reader.read() == list("123456789")
    assert reader.read(newest_first=True, limit=4) == list("9876")
    cursor = write_cursor(reader.end.ranges, True)
    assert reader.read(newest_first=True, cursor=cursor) == list("54321")
    assert reader.read(partitions=[2, 0]) == list("134679")


def test_only_committed_records_are_returned(reader: Reader) -> None:
    reader.fake.topic("t")
    reader.fake.appended(record_batch(["seen"]))
    reader.fake.append(record_batch(["not yet"]))
    assert reader.read() == ["seen"]


def test_deleted_records_are_not_returned(three: Reader) -> None:
    three.fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 4)])
    three.fake.run()
    assert three.read() == list("efghi")
    assert three.read(newest_first=True, limit=9) == list("ihgfe")
    assert three.read(conditions=RecordFilter(start_ms=0)) == list("efghi")


def test_a_batch_that_cannot_be_decoded_is_skipped(reader: Reader) -> None:
    reader.fake.topic("t")
    reader.fake.appended(record_batch(["a"]))
    reader.fake.appended(record_batch(["b"], codec=ZSTD, payload=b"nonsense"))
    reader.fake.appended(record_batch(["c", "d"], payload=b"\x0e"))
    reader.fake.appended(record_batch(["e"]))
    assert reader.read() == ["a", "e"]
    assert reader.end.unreadable == 2
    assert reader.read(newest_first=True) == ["e", "a"]


def test_a_scan_with_a_batch_limit_ends_at_a_larger_batch(reader: Reader) -> None:
    reader.fake.topic("t")
    reader.fake.appended(record_batch(["small"]))
    reader.fake.appended(record_batch(["0" * 100_000], codec=ZSTD))
    plan = reader.plan()
    scan, found = reader.scan(plan, heavy=10_000)
    with pytest.raises(BatchTooLarge):
        for _ in scan.steps():
            pass
    assert [one.message.value for one in found] == [b"small"]
    rest, found = reader.scan(plan)
    for _ in rest.steps():
        pass
    assert [len(one.message.value or b"") for one in found] == [100_000]


def test_a_large_batch_is_scanned_in_small_steps(reader: Reader) -> None:
    reader.fake.topic("t")
    reader.fake.appended(record_batch([rec("v" * 10)] * 1000))
    plan = reader.plan(conditions=RecordFilter(in_key=b"v"))
    scan, _ = reader.scan(plan)
    steps = scan.steps()
    assert not scan.has_moved
    for _ in range(10):
        next(steps)
    assert scan.has_moved
    assert 0 < plan.ranges[0].start < 1000
    assert 10 + sum(1 for _ in steps) >= 1000 // 32


def test_a_full_page_ends_the_scan(reader: Reader) -> None:
    reader.fake.topic("t")
    for number in range(50):
        reader.fake.appended(record_batch(["hit" if number in (1, 49) else "miss"]))
    hits = RecordFilter(in_value=b"hit")
    assert reader.read(conditions=hits, limit=1) == ["hit"]
    assert (reader.end.reason, reader.end.scanned) == ("limit", 2)
    assert reader.read(conditions=hits, max_bytes=1, newest_first=True) == ["hit"]
    assert (reader.end.reason, reader.end.scanned) == ("bytes", 1)


@pytest.mark.parametrize("limit", [None, 10, 15])
def test_a_large_batch_is_returned_backwards_without_gaps(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, limit: int | None
) -> None:
    monkeypatch.setattr("application.records.scan.MAX_HELD", 10)
    reader.fake.topic("t")
    values = [str(number) for number in range(35)]
    reader.fake.appended(record_batch(["first"]))
    reader.fake.appended(record_batch(values))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        seen += reader.read(newest_first=True, limit=limit, cursor=cursor)
        cursor = write_cursor(reader.end.ranges, True)
        if cursor is None:
            break
        assert reader.end.reason == "limit"
    assert seen == [*reversed(values), "first"]
    assert reader.end.reason == "end"


def test_unknown_and_too_many_partitions_are_refused(reader: Reader) -> None:
    with pytest.raises(UnknownTopicOrPartition):
        reader.plan("nowhere")
    reader.fake.topic("t", 300)
    with pytest.raises(UnknownTopicOrPartition, match="has no partition 300"):
        reader.plan(partitions=[300])
    with pytest.raises(InvalidRequest, match="At most 256"):
        reader.plan()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "A" * 70_000,
        "ä",
        "oldest",
        "oldest-",
        "oldest-0.1",
        "oldest-0.1.2.3",
        "oldest-a.b.c",
        "oldest-0.2.1",
        "oldest--1.0.1",
        f"oldest-0.0.{2**63}",
        "oldest" + "-0.0.1" * (MAX_PARTITIONS + 1),
    ],
)
def test_an_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        read_cursor(cursor, newest_first=False)


def test_a_cursor_is_limited_to_the_log(three: Reader) -> None:
    plan = three.plan(offset=3)
    plan.ranges[0].start, plan.ranges[0].end = 2, 2**40
    cursor = write_cursor(plan.ranges, False)
    assert cursor is not None
    assert three.read(cursor=cursor) == list("cdefghi")
    with pytest.raises(InvalidRequest, match="other order"):
        three.read(cursor=cursor, newest_first=True)


# ---- compacted logs


def rows(*keys: str) -> bytearray:
    return record_batch([rec(key, key=key) for key in keys])


def test_a_compacted_log_is_read_in_both_orders(reader: Reader) -> None:
    reader.fake.topic("t")
    for keys in ("ab", "cd", "cd", "e", "ef", "dc", "g"):
        reader.fake.appended(rows(*keys))
    compact(reader.fake, 11)
    assert reader.read() == list("abefdcg")
    assert reader.read(newest_first=True) == list("gcdfeba")
    assert reader.read(newest_first=True, limit=4) == list("gcdf")


def test_the_newest_record_before_a_large_gap_is_found_in_few_steps(reader: Reader) -> None:
    reader.fake.topic("t")
    for _ in range(3):
        reader.fake.appended(rows("a"))
    reader.fake.appended(record_batch([rec("x", key="x")] * 90_000))
    reader.fake.appended(rows("b", "x"))
    compact(reader.fake, 90_005)
    scan, found = reader.scan(reader.plan(newest_first=True, limit=3))
    assert sum(1 for _ in scan.steps()) < 100
    assert [one.message.offset for one in found] == [90_004, 90_003, 2]
