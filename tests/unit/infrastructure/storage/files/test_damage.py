"""Any file cut at any length, any bit flipped: the right data, or one clear error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from domain.errors import StorageFailed
from domain.messages.batch import corrupt
from infrastructure.codecs.checksum import crc32c
from infrastructure.opening import open_storage
from infrastructure.storage.errors import StorageUnusable
from interfaces.cli.storage.opened import NotABatch, batches
from tests.fakes.batches import record_batch
from tests.fakes.files_store import FilesStore, P

#: Two segments of two batches each.
BATCHES = [bytes(record_batch([value], base_offset=at)) for at, value in enumerate("abcd")]
SIZE_BYTES = len(BATCHES[0])
DATA = b"".join(BATCHES)
#: Of a header, what says where a batch ends: length and last offset; and where it begins.
PLACED_BY = {*range(12), *range(23, 27)}


@pytest.fixture
def store(tmp_path: Path) -> FilesStore:
    store = FilesStore(tmp_path / "store", "os")
    for offset, one in enumerate(BATCHES):
        store.log.append(P, offset, one, -1, offset == 2)
        store.keep()
    return store


def read_all(store: FilesStore) -> bytes | None:
    """As a consumer does, and then as a start does; None: one clear error."""
    read, offset = b"", 0
    try:
        while piece := store.log.read_to(P, offset, 99, 2 * SIZE_BYTES, True):
            if not piece[0]:
                break
            assert piece[1] > offset
            read, offset = read + piece[0], piece[1]
        store.log.headers(P, 0, 99)
    except StorageFailed as failure:
        told = str(failure)
    else:
        return read
    assert str(store.folder) in told and "\n" not in told
    return None


def damaged(store: FilesStore, path: Path, contents: Iterator[bytes]) -> Iterator[bytes]:
    """Each content, while it is in the file and the log is to be loaded."""
    right = {one: one.read_bytes() for one in path.parent.glob(f"{path.stem}.*")}
    for content in contents:
        store.files.forget(P)
        for one, its in right.items():
            one.write_bytes(its)
        path.write_bytes(content)
        yield content


def cuts(content: bytes) -> Iterator[bytes]:
    for size_bytes in range(len(content)):
        yield content[:size_bytes]


def flips(content: bytes, every: bool = True) -> Iterator[bytes]:
    """Of every bit, or of most bytes one."""
    for bit in range(8 * len(content)):
        at = bit // 8
        if not every and at % SIZE_BYTES not in PLACED_BY and at % 8 != bit % 8:
            continue
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bytes(flipped)


def test_the_newest_segment_may_not_be_cut(store: FilesStore) -> None:
    path = store.path(2)
    for _ in damaged(store, path, cuts(path.read_bytes())):
        assert read_all(store) is None


def test_an_older_segment_that_is_cut_has_whole_batches_or_an_error(store: FilesStore) -> None:
    """Nothing says how long it was, as in Kafka."""
    path = store.path(0)
    for content in damaged(store, path, cuts(path.read_bytes())):
        whole = len(content) % SIZE_BYTES == 0
        assert read_all(store) == (content + DATA[2 * SIZE_BYTES :] if whole else None)


@pytest.mark.parametrize("base_offset", [0, 2])
@pytest.mark.parametrize("kind", ["index", "timeindex"])
@pytest.mark.parametrize("change", [cuts, flips])
def test_indexes_do_not_matter(
    store: FilesStore, base_offset: int, kind: str, change: Callable[[bytes], Iterator[bytes]]
) -> None:
    path = store.path(base_offset, kind)
    for _ in damaged(store, path, change(path.read_bytes() or b"\0\0\1\0\0\0\1\0")):
        assert read_all(store) == DATA


@pytest.mark.parametrize("base_offset", [0, 2])
def test_a_flipped_bit_stays_in_its_batch(
    store: FilesStore, base_offset: int, pytestconfig: pytest.Config
) -> None:
    """Reads do not notice one in the records, as in Kafka; verify does."""
    path = store.path(base_offset)
    every = flips(path.read_bytes(), pytestconfig.getoption("--long"))
    for content in damaged(store, path, every):
        before, after = DATA[: base_offset * SIZE_BYTES], DATA[(base_offset + 2) * SIZE_BYTES :]
        changed = next(at for at, byte in enumerate(content) if byte != (DATA[len(before) :])[at])
        read = read_all(store)
        if changed % SIZE_BYTES not in PLACED_BY:
            assert read == before + content + after
        assert problems(store) or changed % SIZE_BYTES in range(12, 16)


@pytest.mark.parametrize("byte", [5, 7])
def test_wrong_offsets_are_told(store: FilesStore, byte: int) -> None:
    """A reader that goes on comes to a batch without a look at those before it."""
    path = store.path(0)
    store.log.read(P, 0, 99, SIZE_BYTES, True)
    content = bytearray(path.read_bytes())
    content[SIZE_BYTES + byte] ^= 0x40
    path.write_bytes(content)
    with pytest.raises(StorageFailed):
        store.log.read_to(P, 1, len(BATCHES), SIZE_BYTES, True)


def test_appends_go_on_behind_a_damaged_batch(store: FilesStore) -> None:
    """Also those of other logs in the same commit."""
    other = store.append(0, partition_id=P + 1)
    store.keep()
    path = store.path(2)
    content = bytearray(path.read_bytes())
    content[2] ^= 1
    path.write_bytes(content)
    for kind in ("index", "timeindex"):
        store.path(2, kind).unlink()
    store.reopen()
    for offset in (len(BATCHES), len(BATCHES) + 1):
        store.append(offset)
        other += store.append(offset, partition_id=P + 1)
        store.keep()
        assert store.log.end_offset(P) == store.log.end_offset(P + 1) == offset + 1
    assert store.everything(P + 1) == other


def problems(store: FilesStore) -> int:
    """As verify looks: a leader epoch alone is not in the checksum."""
    found, end = 0, 0
    try:
        for one in batches(store.log, P):
            try:
                one.check_crc(crc32c)
            except type(corrupt()):
                found += 1
            found += one.base_offset != end or one.magic != 2
            end = one.last_offset + 1
    except (NotABatch, StorageFailed):
        return found + 1
    return found + (end != len(BATCHES))


def test_a_cut_file_of_rows_is_refused(store: FilesStore) -> None:
    store.close()
    path = store.folder / "data.mdb"
    right = path.read_bytes()
    for size_bytes in (0, 1, 100, 4096, 8192, len(right) // 2):
        path.write_bytes(right[:size_bytes])
        with pytest.raises(StorageUnusable) as refused:
            open_storage(f"files://{store.folder}")
        assert "\n" not in str(refused.value)
    path.write_bytes(right)
    store.reopen()
    assert read_all(store) == DATA


def test_a_damaged_row_is_told(store: FilesStore) -> None:
    for row in (b"", b"\xff" * 60, b"\0" * 52 + b"\xff-0", b"\0" * 52 + b"orders-x"):
        store.files.rows.put_at_once((P).to_bytes(4), row)
        store.files.forget(P)
        with pytest.raises(StorageFailed, match="the row of partition 7 is damaged"):
            store.everything()
