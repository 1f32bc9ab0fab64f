"""What a reader that skips damage gets of a log of 20 batches, each of about 1 KB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from application.ports.commit import at_once
from domain.messages.batch import RecordBatch
from infrastructure.opening import open_storage, opened_beside
from tests.fakes.batches import record_batch

BATCHES = 20
#: Of each batch.
SIZE = len(record_batch([b"v" * 1000]))

Change = Callable[[int, int, bytes], None]
Read = Callable[..., list[tuple[int, bytes]]]


@pytest.fixture
def change(tmp_path: Path) -> Change:
    """Writes bytes into the batch with an offset."""
    storage = open_storage(f"files://{tmp_path}", "os")
    with closing(storage.commit):
        for offset in range(BATCHES):
            batch = record_batch([b"v" * 1000], base_offset=offset)
            storage.log.append(0, offset, batch, begins_segment=offset == 10)
        at_once(storage.commit.commit)

    def changed(offset: int, at: int, data: bytes) -> None:
        path = next(tmp_path.glob(f"*/{offset // 10 * 10:020d}.log"))
        with path.open("r+b") as file:
            file.seek(offset % 10 * SIZE + at)
            file.write(data)

    return changed


@pytest.fixture
def read(tmp_path: Path, change: Change) -> Iterator[Read]:
    with opened_beside(f"files://{tmp_path}") as store:

        def entries(
            offset: int = 0, end: int = BATCHES, max_bytes: int = 1 << 20
        ) -> list[tuple[int, bytes]]:
            return store.entries(0, offset, end, max_bytes)

        yield entries


def offsets(found: list[tuple[int, bytes]]) -> list[int]:
    """Base offsets of the batches in entries that are whole."""
    offsets = []
    for last_offset, entry in found:
        view = memoryview(entry)
        assert len(view) % SIZE == 0
        while view:
            batch = RecordBatch(view[:SIZE])
            offsets.append(batch.base_offset)
            view = view[SIZE:]
        assert offsets[-1] == last_offset
    return offsets


def test_batches_side_by_side_are_one_entry_of_each_segment(read: Read) -> None:
    found = read()
    assert [last_offset for last_offset, _ in found] == [9, 19]
    assert offsets(found) == list(range(BATCHES))


@pytest.mark.parametrize("max_bytes", [0, 1, SIZE, SIZE + 1, 5 * SIZE, 12 * SIZE])
def test_entries_fit_and_are_at_least_one_batch(read: Read, max_bytes: int) -> None:
    reached, all_offsets = 0, []
    while found := read(reached, BATCHES, max_bytes) if reached < BATCHES else []:
        assert sum(len(entry) for _, entry in found) <= max(SIZE, max_bytes)
        all_offsets += offsets(found)
        reached = found[-1][0] + 1
    assert all_offsets == list(range(BATCHES))


def test_entries_begin_at_the_offset_and_below_the_end(read: Read) -> None:
    assert offsets(read(7, 12)) == [7, 8, 9, 10, 11]
    assert read(BATCHES, BATCHES) == []


LENGTH, MAGIC = 8, 16


@pytest.mark.parametrize(
    ("at", "data", "next_offset"),
    [
        # Where its own length leads.
        (MAGIC, b"\x07", 4),
        (0, (1 << 40).to_bytes(8, "big"), 4),
        (0, (1).to_bytes(8, "big"), 4),
        (0, (7).to_bytes(8, "big"), 4),
        # Where the index points: it has an entry for about each 4 KiB.
        (LENGTH, b"\x7f\xff\xff\xff", 4),
        (LENGTH, b"\xff\xff\xff\xff", 4),
        (LENGTH, bytes(4), 4),
    ],
)
def test_a_wrong_header_hides_no_batch_that_can_be_found(
    change: Change, read: Read, at: int, data: bytes, next_offset: int
) -> None:
    change(3, at, data)
    found = read()
    assert offsets(found[:1]) == [0, 1, 2]
    assert found[1][0] == next_offset - 1
    assert len(found[1][1]) == (next_offset - 3) * SIZE
    assert offsets(found[2:]) == list(range(next_offset, BATCHES))
    assert read(3, 4)[0][0] == 3
    assert offsets(read(4)) == list(range(4, BATCHES))


def test_without_an_index_entry_behind_it_the_segment_is_hidden(change: Change, read: Read) -> None:
    change(8, LENGTH, b"\xff\xff\xff\xff")
    found = read()
    assert offsets(found[:1]) == list(range(8))
    assert found[1][0] == 9
    assert offsets(found[2:]) == list(range(10, BATCHES))
