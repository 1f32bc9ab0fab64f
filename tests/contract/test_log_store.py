"""LogStore over every engine."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.contract.batches import HEADER_BYTES, batch
from tests.contract.engines import OpenStore

ALL = 1 << 62


def append_three(store: OpenStore, partition_id: int = 7) -> list[bytes]:
    """Offsets 0-9, 10-14 and, after a gap, 30-39."""
    batches = [
        batch(9, b"a", first_offset=0, size_bytes=100),
        batch(14, b"b", first_offset=10, size_bytes=200),
        batch(39, b"c", first_offset=30, size_bytes=300),
    ]
    for last_offset, one in zip((9, 14, 39), batches, strict=True):
        store.log.append(partition_id, last_offset, one)
    store.keep()
    return batches


def test_staged_batches_are_invisible_until_the_commit(store: OpenStore) -> None:
    one = batch(9, b"batch")
    store.log.append(7, 9, one, 1000)

    assert store.everything(7) == b""
    assert store.log.headers(7, 0, 10) == []
    assert store.log.at_timestamp(7, 2000) == 0
    assert store.log.partition_ids() == []

    store.keep()

    assert store.everything(7) == one
    assert store.log.headers(7, 0, 10) == [one[:HEADER_BYTES]]
    assert store.log.at_timestamp(7, 2000) == 10
    assert store.log.partition_ids() == [7]


def test_an_unknown_partition_reads_as_empty(store: OpenStore) -> None:
    append_three(store, 7)

    for partition_id in (6, 8):
        assert store.everything(partition_id) == b""
        assert store.log.headers(partition_id, 0, 10) == []
        assert store.log.at_timestamp(partition_id, 1) == 0


@pytest.mark.parametrize(
    "offset, expected",
    [(0, "abc"), (9, "abc"), (10, "bc"), (12, "bc"), (15, "c"), (29, "c"), (39, "c"), (40, "")],
)
def test_reading_starts_with_the_batch_that_holds_the_offset_or_the_next_one(
    store: OpenStore, offset: int, expected: str
) -> None:
    batches = dict(zip("abc", append_three(store), strict=True))

    read = store.log.read(7, offset, ALL, ALL, True)

    assert read == b"".join(batches[name] for name in expected)
    assert type(read) is bytes


def test_a_read_does_not_continue_in_the_next_partition(store: OpenStore) -> None:
    batches = append_three(store, 7)
    append_three(store, 8)

    assert store.everything(7) == b"".join(batches)
    assert store.log.read(7, 40, ALL, ALL, True) == b""


@pytest.mark.parametrize(
    "end_offset, expected", [(9, 0), (10, 1), (14, 1), (15, 2), (39, 2), (40, 3)]
)
def test_only_batches_wholly_below_the_end_offset_are_read(
    store: OpenStore, end_offset: int, expected: int
) -> None:
    batches = append_three(store)

    assert store.log.read(7, 0, end_offset, ALL, True) == b"".join(batches[:expected])


@pytest.mark.parametrize("together", [(), (2,), range(6)], ids=["one pass", "two", "six"])
def test_every_window_of_a_log_of_single_records_is_exact(
    store: OpenStore, together: Sequence[int]
) -> None:
    batches = [batch(offset, b"%d" % offset) for offset in range(6)]
    for offset, one in enumerate(batches):
        store.log.append(7, offset, one)
        if offset in together:
            store.keep()
    store.log.append(8, 0, batch(0, b"other"))
    store.keep()

    size_bytes = len(batches[0])
    for offset in range(8):
        for end_offset in range(8):
            for count in range(8):
                window = b"".join(batches[offset:end_offset][:count])
                for max_bytes in (count * size_bytes, (count + 1) * size_bytes - 1):
                    assert store.log.read(7, offset, end_offset, max_bytes, False) == window
            first = store.log.read(7, offset, end_offset, 0, True)
            assert first == b"".join(batches[offset:end_offset][:1])
            headers = [one[:HEADER_BYTES] for one in batches[offset:][:end_offset]]
            assert store.log.headers(7, offset, end_offset) == headers


@pytest.mark.parametrize("max_bytes, expected", [(0, 0), (99, 0), (100, 1), (299, 1), (300, 2)])
def test_as_many_whole_batches_are_read_as_fit(
    store: OpenStore, max_bytes: int, expected: int
) -> None:
    batches = append_three(store)

    assert store.log.read(7, 0, ALL, max_bytes, False) == b"".join(batches[:expected])
    at_least_one = b"".join(batches[: max(expected, 1)])
    assert store.log.read(7, 0, ALL, max_bytes, True) == at_least_one


def test_whole_first_does_not_reach_beyond_the_end_offset(store: OpenStore) -> None:
    append_three(store)

    assert store.log.read(7, 10, 12, 1, True) == b""


def test_headers_are_the_first_61_bytes_of_so_many_batches(store: OpenStore) -> None:
    batches = append_three(store)
    headers = [one[:HEADER_BYTES] for one in batches]

    assert store.log.headers(7, 0, 2) == headers[:2]
    assert store.log.headers(7, 12, 10) == headers[1:]
    assert store.log.headers(7, 40, 10) == []
    assert all(type(header) is bytes for header in store.log.headers(7, 0, 3))


def test_the_index_leads_close_to_the_first_batch_with_a_timestamp(store: OpenStore) -> None:
    store.log.append(7, 9, batch(9, b"a"), 1000)
    store.log.append(7, 19, batch(19, b"b"))
    store.log.append(7, 29, batch(29, b"c"), 2000)
    store.log.append(8, 99, batch(99, b"d"), 500)
    store.keep()

    assert [store.log.at_timestamp(7, t) for t in (0, 1000, 1001, 2000, 2001)] == [0, 0, 10, 10, 30]
    assert [store.log.at_timestamp(8, t) for t in (500, 501, 1 << 62)] == [0, 100, 100]
    assert store.log.at_timestamp(7, -5) == 0


def test_an_equal_largest_timestamp_moves_its_index_entry(store: OpenStore) -> None:
    store.log.append(7, 9, batch(9, b"a"), 1000)
    store.keep()
    store.log.append(7, 19, batch(19, b"b"), 1000)
    store.keep()

    assert store.log.at_timestamp(7, 1001) == 20


@pytest.mark.parametrize("size_bytes", [10, 4000, 100_000])
@pytest.mark.parametrize("as_buffer", [bytearray, memoryview])
def test_the_callers_buffer_may_change_right_after_the_call(
    store: OpenStore, as_buffer: type[bytearray | memoryview], size_bytes: int
) -> None:
    expected = batch(0, os.urandom(size_bytes))
    frame = bytearray(b"before" + expected + b"after")
    view = memoryview(frame)[6 : 6 + len(expected)]
    store.log.append(7, 0, view if as_buffer is memoryview else bytearray(view))
    frame[:] = bytes(len(frame))
    store.keep()

    assert store.everything(7) == expected


@pytest.mark.parametrize("size_bytes", [100, 5000, 100_000])
def test_a_buffer_is_not_held_after_the_call(store: OpenStore, size_bytes: int) -> None:
    frame = bytearray(batch(0, size_bytes=size_bytes))
    with memoryview(frame) as view:
        store.log.append(7, 0, view)
    frame.clear()  # BufferError if a view of it still exists
    store.keep()


def test_read_bytes_do_not_change(store: OpenStore) -> None:
    written = batch(0, b"x" * 20_000)
    store.log.append(7, 0, written)
    store.keep()
    read = store.everything(7)

    assert store.log.drop(7, 10)
    store.keep()
    for offset in range(5):
        store.log.append(8, offset, batch(offset, b"y" * 20_000))
        store.keep()

    assert read == written


def test_a_huge_batch_is_read_whole(store: OpenStore) -> None:
    before, huge, after = batch(0), batch(1, os.urandom(10 << 20)), batch(2)
    for offset, one in enumerate((before, huge, after)):
        store.log.append(7, offset, one)
    store.keep()

    assert store.log.read(7, 1, ALL, 1, True) == huge
    assert store.everything(7) == before + huge + after
    assert store.log.headers(7, 0, 3) == [before, huge[:HEADER_BYTES], after]


def test_many_small_batches_of_one_pass_are_read_one_by_one(store: OpenStore) -> None:
    batches = [batch(offset, b"%d" % offset, size_bytes=1000) for offset in range(300)]
    for offset, one in enumerate(batches):
        store.log.append(7, offset, one, offset)
    store.keep()

    assert store.everything(7) == b"".join(batches)
    for offset, one in enumerate(batches):
        assert store.log.read(7, offset, ALL, 1, True) == one
        assert store.log.at_timestamp(7, offset + 1) == offset + 1


def test_many_partitions_stay_separate(store: OpenStore) -> None:
    ids = [*range(500), 1 << 20, (1 << 32) - 1]
    for partition_id in reversed(ids):
        one = batch(4, b"of %d" % partition_id)
        store.log.append(partition_id, 4, one, 1000 + partition_id)
    store.keep()

    assert store.log.partition_ids() == ids
    assert all(store.everything(i) == batch(4, b"of %d" % i) for i in ids)
    assert all(store.log.at_timestamp(i, 1001 + i) == 5 for i in ids)


def test_a_deleted_partition_is_dropped_in_slices(store: OpenStore) -> None:
    for offset in range(10):
        store.log.append(7, offset, batch(offset), offset, begins_segment=True)
        store.keep()
    append_three(store, 6)
    append_three(store, 8)
    others = store.everything(6)

    results = []
    for _ in range(3):
        results.append(store.log.drop(7, 4))
        store.keep()

    assert results == [False, False, True]
    assert store.log.partition_ids() == [6, 8]
    assert store.everything(7) == b""
    assert store.log.at_timestamp(7, 100) == 0
    assert (store.everything(6), store.everything(8)) == (others, others)


def test_a_drop_is_invisible_until_the_commit(store: OpenStore) -> None:
    batches = append_three(store)

    assert store.log.drop(7, 100)
    assert store.everything(7) == b"".join(batches)
    store.keep()

    assert store.everything(7) == b""


def test_a_second_drop_of_a_pass_continues_after_the_first(store: OpenStore) -> None:
    for offset in range(3):
        store.log.append(7, offset, batch(offset), begins_segment=True)
        store.keep()

    assert not store.log.drop(7, 1)
    assert not store.log.drop(7, 1)
    store.keep()
    assert store.everything(7) == batch(2)

    assert store.log.drop(7, 1)
    store.keep()
    assert store.log.partition_ids() == []


def test_batches_can_be_dropped_in_the_pass_of_their_append(store: OpenStore) -> None:
    store.log.append(7, 0, batch(0), 1000)
    assert store.log.drop(7, 10)
    store.keep()

    assert store.log.partition_ids() == []
    assert store.log.at_timestamp(7, 2000) == 0


def test_batches_can_be_dropped_in_the_pass_of_their_replacement(store: OpenStore) -> None:
    append_three(store)
    store.log.replace(7, 0, 14, [batch(11, b"B", first_offset=10)], [])
    assert store.log.drop(7, 10)
    store.keep()

    assert store.everything(7) == b""
    assert store.log.partition_ids() == []


def test_a_partition_without_batches_is_dropped_at_once(store: OpenStore) -> None:
    assert store.log.drop(7, 1)
    store.keep()


def test_committed_batches_survive_a_restart(lasting_store: OpenStore) -> None:
    store = lasting_store
    batches = append_three(store)
    store.log.append(7, 49, batch(49, b"d"), 1000)
    store.keep()
    store.log.append(7, 59, batch(59, b"staged and never committed"))

    store.reopen()

    assert store.everything(7) == b"".join(batches) + batch(49, b"d")
    assert store.log.at_timestamp(7, 1001) == 50
    assert store.log.partition_ids() == [7]
    store.log.append(7, 59, batch(59, b"e"))
    store.keep()
    assert store.log.read(7, 50, ALL, ALL, True) == batch(59, b"e")


@pytest.mark.parametrize(
    "offset, end, limit, whole_first, reached",
    [
        (0, ALL, ALL, True, 40),
        (12, 30, ALL, True, 15),
        (0, 14, ALL, True, 10),
        (0, ALL, 350, True, 15),
        (0, ALL, 1, True, 10),
        (12, ALL, 1, False, 12),
        (40, ALL, ALL, True, 40),
    ],
)
def test_the_offset_behind_the_last_batch_of_a_read(
    store: OpenStore, offset: int, end: int, limit: int, whole_first: bool, reached: int
) -> None:
    append_three(store)
    arguments = (7, offset, end, limit, whole_first)
    assert store.log.read_to(*arguments) == (store.log.read(*arguments), reached)
    assert store.log.read_to(8, offset, end, limit, whole_first) == (b"", offset)
