from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from application.records.cursor import read_cursor, write_cursor
from application.records.filter import ALL_RECORDS, HeaderFilter, RecordFilter
from application.records.plan import MAX_PARTITIONS, ScanPlan
from application.records.scan import BatchTooLarge, FoundRecord, Scan
from domain.errors import InvalidRequest, UnknownTopicOrPartition
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.batches import GZIP, LZ4, SNAPPY, TIMESTAMP, ZSTD, Record, record_batch
from tests.fakes.broker import FakeBroker


def rec(value: str, at: int = 0, key: str | None = None, **headers: str) -> Record:
    pairs = [(name, content.encode()) for name, content in headers.items()]
    return (key, value, pairs, TIMESTAMP + at)


class Looker:
    def __init__(self) -> None:
        self.fake = FakeBroker()

    def plan(
        self,
        topic: str = "t",
        partitions: list[int] | None = None,
        offset: int | None = None,
        cursor: str | None = None,
        wanted: RecordFilter = ALL_RECORDS,
        **question: Any,
    ) -> ScanPlan:
        plan = ScanPlan([], wanted, **question)
        return self.fake.broker.messages.browse.plan(topic, partitions, plan, offset, cursor)

    def scan(self, plan: ScanPlan, heavy: int | None = None) -> tuple[Scan, list[FoundRecord]]:
        found: list[FoundRecord] = []

        def take(one: FoundRecord) -> int:
            found.append(one)
            return len(one.message.value or b"")

        return Scan(plan, self.fake.log, BatchCompression(), take, heavy), found

    def look(self, **query: Any) -> list[str]:
        scan, found = self.scan(self.plan(**query))
        for _ in scan.steps():
            pass
        self.end = scan.end(scan.reason())
        return [(one.message.value or b"-").decode() for one in found]


@pytest.fixture
def looker() -> Iterator[Looker]:
    looker = Looker()
    yield looker
    looker.fake.close()


@pytest.fixture
def three(looker: Looker) -> Looker:
    """One partition, three batches of three, three codecs."""
    looker.fake.topic("t")
    for codec, names in ((ZSTD, "abc"), (GZIP, "def"), (LZ4, "ghi")):
        records = [rec(name, at=ord(name)) for name in names]
        looker.fake.appended(record_batch(records, codec=codec))
    return looker


def test_from_the_start_to_the_end(three: Looker) -> None:
    assert three.look() == list("abcdefghi")
    assert (three.end.reason, three.end.found, three.end.scanned) == ("end", 9, 9)
    assert all(each.is_done for each in three.end.ranges)


def test_from_the_end_backwards(three: Looker) -> None:
    assert three.look(newest_first=True) == list("ihgfedcba")
    assert three.look(newest_first=True, limit=4) == list("ihgf")
    assert three.end.reason == "limit"
    [left] = three.end.ranges
    assert (left.start, left.end) == (0, 5)


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 8, 9])
def test_pages_follow_one_another_without_gap(
    three: Looker, newest_first: bool, limit: int
) -> None:
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(10):
        page = three.look(newest_first=newest_first, limit=limit, cursor=cursor)
        assert len(page) <= limit
        seen += page
        cursor = write_cursor(three.end.ranges, newest_first)
        if cursor is None:
            break
    assert seen == sorted("abcdefghi", reverse=newest_first)
    assert cursor is None


def test_an_offset_in_the_middle_of_a_batch(three: Looker) -> None:
    assert three.look(offset=4) == list("efghi")
    assert three.look(offset=4, newest_first=True) == list("edcba")
    assert three.look(offset=100) == []
    assert three.look(offset=100, newest_first=True, limit=1) == ["i"]


def test_a_range_of_time(three: Looker) -> None:
    def between(first: str, last: str) -> RecordFilter:
        return RecordFilter(start_ms=TIMESTAMP + ord(first), end_ms=TIMESTAMP + ord(last))

    assert three.look(wanted=between("c", "e")) == list("cde")
    assert three.look(wanted=between("c", "e"), newest_first=True) == list("edc")
    assert three.look(wanted=between("j", "z")) == []
    assert three.end.scanned == 9 or three.end.reason == "end"


def test_what_comes_after_the_end_of_a_time_is_not_looked_at(three: Looker) -> None:
    assert three.look(wanted=RecordFilter(end_ms=TIMESTAMP + ord("b"))) == list("ab")
    assert three.end.scanned == 3


def test_bytes_bound_a_page_but_for_its_first_record(looker: Looker) -> None:
    looker.fake.topic("t")
    looker.fake.appended(record_batch([rec("x" * 100), rec("y" * 100), rec("z" * 100)]))
    assert len(looker.look(max_bytes=1)) == 1
    assert looker.end.reason == "bytes"
    assert len(looker.look(max_bytes=150)) == 2


@pytest.mark.parametrize(
    "wanted, found",
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
def test_conditions(looker: Looker, wanted: RecordFilter, found: list[str]) -> None:
    looker.fake.topic("t")
    records = [
        rec("1", key="one", kind="first"),
        rec("two", key="otto"),
        rec("3", kind="two"),
        rec("4", key=""),
    ]
    looker.fake.appended(record_batch(records, codec=SNAPPY))
    assert looker.look(wanted=wanted) == found
    assert looker.look(wanted=wanted, newest_first=True) == found[::-1]
    assert looker.end.scanned == 4


def test_a_null_is_no_text(looker: Looker) -> None:
    looker.fake.topic("t")
    looker.fake.appended(record_batch([(None, None, [("h", None)], TIMESTAMP), rec("a")]))
    assert looker.look(wanted=RecordFilter(anywhere=b"a")) == ["a"]
    assert looker.look() == ["-", "a"]


def test_partitions_are_merged_by_time(looker: Looker) -> None:
    looker.fake.topic("t", 3)
    for index, times in enumerate([(1, 4, 7), (2, 5, 8), (3, 6, 9)]):
        for at in times:
            looker.fake.appended(record_batch([rec(str(at), at)]), index=index)
    assert looker.look() == list("123456789")
    assert looker.look(newest_first=True, limit=4) == list("9876")
    cursor = write_cursor(looker.end.ranges, True)
    assert looker.look(newest_first=True, cursor=cursor) == list("54321")
    assert looker.look(partitions=[2, 0]) == list("134679")


def test_only_what_is_committed_is_seen(looker: Looker) -> None:
    looker.fake.topic("t")
    looker.fake.appended(record_batch(["seen"]))
    looker.fake.append(record_batch(["not yet"]))
    assert looker.look() == ["seen"]


def test_what_was_deleted_is_not_seen(three: Looker) -> None:
    from application.partitions.delete_records import RecordsToDelete

    three.fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 4)])
    three.fake.run()
    assert three.look() == list("efghi")
    assert three.look(newest_first=True, limit=9) == list("ihgfe")
    assert three.look(wanted=RecordFilter(start_ms=0)) == list("efghi")


def test_a_batch_that_is_not_what_it_says_is_passed_over(looker: Looker) -> None:
    looker.fake.topic("t")
    looker.fake.appended(record_batch(["a"]))
    looker.fake.appended(record_batch(["b"], codec=ZSTD, payload=b"nonsense"))
    looker.fake.appended(record_batch(["c", "d"], payload=b"\x0e"))
    looker.fake.appended(record_batch(["e"]))
    assert looker.look() == ["a", "e"]
    assert looker.end.unreadable == 2
    assert looker.look(newest_first=True) == ["e", "a"]


def test_a_large_batch_is_left_to_whoever_may_open_it(looker: Looker) -> None:
    looker.fake.topic("t")
    looker.fake.appended(record_batch(["small"]))
    looker.fake.appended(record_batch(["0" * 100_000], codec=ZSTD))
    plan = looker.plan()
    scan, found = looker.scan(plan, heavy=10_000)
    with pytest.raises(BatchTooLarge):
        for _ in scan.steps():
            pass
    assert [one.message.value for one in found] == [b"small"]
    rest, found = looker.scan(plan)
    for _ in rest.steps():
        pass
    assert [len(one.message.value or b"") for one in found] == [100_000]


def test_each_step_is_small_however_many_records_a_batch_has(looker: Looker) -> None:
    looker.fake.topic("t")
    looker.fake.appended(record_batch([rec("v" * 10)] * 1000))
    scan, _ = looker.scan(looker.plan(wanted=RecordFilter(in_key=b"v")))
    assert sum(1 for _ in scan.steps()) >= 1000 // 32


def test_who_stops_in_a_batch_goes_on_in_it(looker: Looker) -> None:
    looker.fake.topic("t")
    looker.fake.appended(record_batch([rec("v" * 10)] * 1000))
    plan = looker.plan(wanted=RecordFilter(in_key=b"v"))
    scan, _ = looker.scan(plan)
    steps = scan.steps()
    assert not scan.has_moved
    for _ in range(10):
        next(steps)
    assert scan.has_moved
    assert 0 < plan.ranges[0].start < 1000


def test_a_page_that_is_full_looks_no_further(looker: Looker) -> None:
    looker.fake.topic("t")
    for number in range(50):
        looker.fake.appended(record_batch(["hit" if number in (1, 49) else "miss"]))
    wanted = RecordFilter(in_value=b"hit")
    assert looker.look(wanted=wanted, limit=1) == ["hit"]
    assert (looker.end.reason, looker.end.scanned) == ("limit", 2)
    assert looker.look(wanted=wanted, max_bytes=1, newest_first=True) == ["hit"]
    assert (looker.end.reason, looker.end.scanned) == ("bytes", 1)


@pytest.mark.parametrize("limit", [None, 10, 15])
def test_of_a_long_batch_backwards_no_record_is_lost(
    looker: Looker, monkeypatch: pytest.MonkeyPatch, limit: int | None
) -> None:
    monkeypatch.setattr("application.records.scan.MAX_HELD", 10)
    looker.fake.topic("t")
    values = [str(number) for number in range(35)]
    looker.fake.appended(record_batch(["first"]))
    looker.fake.appended(record_batch(values))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        seen += looker.look(newest_first=True, limit=limit, cursor=cursor)
        cursor = write_cursor(looker.end.ranges, True)
        if cursor is None:
            break
        assert looker.end.reason == "limit"
    assert seen == [*reversed(values), "first"]
    assert looker.end.reason == "end"


def test_what_cannot_be_asked(looker: Looker) -> None:
    with pytest.raises(UnknownTopicOrPartition):
        looker.plan("nowhere")
    looker.fake.topic("t", 300)
    with pytest.raises(UnknownTopicOrPartition, match="has no partition 300"):
        looker.plan(partitions=[300])
    with pytest.raises(InvalidRequest, match="At most 256"):
        looker.plan()


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
def test_a_cursor_of_somebody_elses_making(cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        read_cursor(cursor, newest_first=False)


def test_a_cursor_cannot_widen_what_there_is(three: Looker) -> None:
    plan = three.plan(offset=3)
    plan.ranges[0].start, plan.ranges[0].end = 2, 2**40
    cursor = write_cursor(plan.ranges, False)
    assert cursor is not None
    assert three.look(cursor=cursor) == list("cdefghi")
    with pytest.raises(InvalidRequest, match="other order"):
        three.look(cursor=cursor, newest_first=True)
