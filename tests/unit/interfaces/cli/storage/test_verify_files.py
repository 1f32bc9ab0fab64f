"""`ottla storage verify`, `dump` and `info` on `files://`, whose files somebody has changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import lmdb
import pytest

from application.ports.commit import at_once
from domain.topics.topic import Topic
from infrastructure.kafka_folder.index_entries import INDEX_ENTRY, TIME_ENTRY
from infrastructure.opening import contents, open_storage
from infrastructure.storage.engine import Storage
from interfaces.main.__main__ import main
from tests.fakes.batches import record_batch

Captured = pytest.CaptureFixture[str]
BATCHES = 40
SEGMENT = 20


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of two segments with 20 batches of about 1 KB each; do not change it."""
    folder = tmp_path_factory.mktemp("original") / "store"
    storage = open_storage(f"files://{folder}", "os")
    with closing(storage.commit):
        fill(storage, "orders")
        at_once(storage.commit.commit)
    return folder


def fill(storage: Storage, topic: str, **configs: str) -> None:
    topics = contents(storage).topics
    [partition_id] = topics.reserve_partition_ids(1)
    topics.save(Topic(topic, b"i" * 16, (partition_id,), configs))
    for offset in range(BATCHES):
        batch = record_batch([b"v" * 1000], base_offset=offset, timestamp=1000 + offset)
        begins = not offset % SEGMENT
        storage.log.append(partition_id, offset, batch, begins_segment=begins)


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "store")


@pytest.fixture
def found(store: Path, capsys: Captured) -> Callable[[int], list[str]]:
    """Levels and texts of what `verify` finds; the folder has not changed."""

    def verified(code: int) -> list[str]:
        def files() -> dict[Path, bytes]:
            return {path: path.read_bytes() for path in store.rglob("*-*/*") if path.is_file()}

        before = files()
        capsys.readouterr()
        assert main(["storage", "verify", str(store), "-o", "json"]) == code
        assert files() == before
        rows = json.loads(capsys.readouterr().out)
        return [f"{one['level']}: {one['where']}: {one['what']}" for one in rows]

    return verified


Found = Callable[[int], list[str]]


def problems(found: Found) -> list[str]:
    return [one for one in found(1) if one.startswith("problem")]


def log(store: Path, kind: str = "log", base: int = 0) -> Path:
    return store / "orders-0" / f"{base:020d}.{kind}"


def test_a_store_of_files_is_valid(store: Path, found: Found) -> None:
    rows = found(0)
    assert "ok: batches: 1 partitions, 40 batches, 40 records" in rows
    assert "ok: segments: 2 checked with their indexes" in rows


def test_the_sizes_have_the_segments(store: Path, capsys: Captured) -> None:
    assert main(["storage", "info", str(store), "-o", "json"]) == 0
    info = json.loads(capsys.readouterr().out)
    segments = sum(path.stat().st_size for path in store.glob("orders-0/*.log"))
    assert info["storage"] == f"files://{store}"
    assert info["file_bytes"] == segments + (store / "data.mdb").stat().st_size


def change(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def test_a_changed_record_is_found(store: Path, found: Found) -> None:
    change(log(store), 500, b"x")
    [first, _] = problems(found)
    assert first == (
        "problem: orders-0: the batch at offset 0 has a wrong checksum: its bytes were changed "
        "after they were stored"
    )


def test_a_changed_header_is_found_with_its_place(store: Path, found: Found) -> None:
    position = log(store).stat().st_size // SEGMENT * 3
    change(log(store), position + 8, b"\xff\xff\xff\xff")
    assert any(f"{log(store)} has no batch at byte {position}" in one for one in problems(found))


def test_a_changed_header_ends_a_dump_in_one_line(store: Path, capsys: Captured) -> None:
    change(log(store), 8, b"\xff\xff\xff\xff")
    assert main(["storage", "dump", str(store)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line == (
        f"ottla: orders-0: The store could not read: {log(store)} has no batch at byte 0"
    )


def test_a_missing_active_segment_is_found(store: Path, found: Found) -> None:
    log(store, base=SEGMENT).unlink()
    assert any(f"{log(store, base=SEGMENT)} is missing" in one for one in problems(found))


def test_a_missing_first_segment_is_found(store: Path, found: Found) -> None:
    for kind in ("log", "index", "timeindex"):
        log(store, kind).unlink()
    assert f"problem: orders-0: {log(store)} is missing" in problems(found)


def test_a_missing_segment_is_found_by_its_index(store: Path, found: Found) -> None:
    """Also where compaction may have removed all of its offsets."""
    index = log(store, "index", 10)
    index.write_bytes(b"")
    assert f"problem: orders-0: {index.with_suffix('.log')} is missing" in problems(found)


def test_a_missing_folder_is_found(store: Path, found: Found) -> None:
    shutil.rmtree(store / "orders-0")
    assert any(f"No such file or directory: '{store}/orders-0'" in one for one in problems(found))


def test_a_cut_off_active_segment_is_found(store: Path, found: Found) -> None:
    path = log(store, base=SEGMENT)
    size_bytes = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(size_bytes - 10)
    what = f"{path} is cut off: {size_bytes - 10} of {size_bytes} bytes"
    assert any(what in one for one in problems(found))


@pytest.mark.parametrize("inside", [0, 10])
def test_a_cut_off_segment_is_found(store: Path, found: Found, inside: int) -> None:
    """At the end of a batch, and within one."""
    path = log(store)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // SEGMENT * 12 - inside)
    text = problems(found)
    assert any(str(path) in one or "are missing" in one for one in text)
    if not inside:
        assert "problem: orders-0: offsets 12 to 19 are missing" in text
        assert any("the segment has no such batch; remove" in one for one in text)


def test_bytes_behind_the_committed_end_are_no_problem(store: Path, found: Found) -> None:
    with log(store, base=SEGMENT).open("ab") as file:
        file.write(b"of a pass that was killed")
    found(0)


ENTRY = 2


@pytest.mark.parametrize(
    ("kind", "entry", "why"),
    [
        ("index", (14, 999), "no batch begins at byte 999"),
        ("index", (11, None), "ends at offset 12, not at 11"),
        ("timeindex", (1013, 14), "has timestamp 1014, not 1013"),
        ("timeindex", (1014, 2), "no batch ends at offset 2"),
    ],
)
def test_a_wrong_index_entry_is_found(
    store: Path, found: Found, kind: str, entry: tuple[int, int | None], why: str
) -> None:
    layout = INDEX_ENTRY if kind == "index" else TIME_ENTRY
    path = log(store, kind)
    old = layout.unpack_from(path.read_bytes(), ENTRY * layout.size)
    first, second = entry
    new = layout.pack(first, old[1] if second is None else second)
    change(path, ENTRY * layout.size, new)
    [problem, _] = problems(found)
    assert problem.startswith(f"problem: orders-0: {path}, entry {ENTRY}: ")
    assert why in problem
    assert problem.endswith(f"; remove {log(store, 'index')}, and both indexes are rebuilt")


@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_an_index_that_lags_is_no_problem(store: Path, found: Found, kind: str) -> None:
    layout = INDEX_ENTRY if kind == "index" else TIME_ENTRY
    with log(store, kind).open("r+b") as file:
        file.truncate(layout.size)
    found(0)


def test_a_missing_index_is_a_note(store: Path, found: Found) -> None:
    log(store, "index").unlink()
    assert any(one.startswith("note: orders-0: ") and "rebuilt" in one for one in found(0))


@pytest.mark.parametrize("kind", ["index", "timeindex"])
@pytest.mark.parametrize("more", [b"abc", bytes(24)])
def test_bytes_that_are_no_entries_are_found(
    store: Path, found: Found, kind: str, more: bytes
) -> None:
    with log(store, kind).open("ab") as file:
        file.write(more)
    assert any(str(log(store, kind)) in one for one in problems(found))


def test_a_removed_index_is_rebuilt(store: Path, found: Found) -> None:
    change(log(store, "index"), ENTRY * INDEX_ENTRY.size, INDEX_ENTRY.pack(14, 999))
    before = log(store, "timeindex").read_bytes()
    log(store, "index").unlink()
    storage = open_storage(f"files://{store}", "os")
    with closing(storage.commit):
        assert storage.log.read(0, 15, 16, 1, True)
    assert log(store, "index").exists()
    assert log(store, "timeindex").read_bytes() == before
    assert not any("missing" in one for one in found(0))


def test_files_of_others_are_notes(store: Path, found: Found) -> None:
    (store / "orders-0" / "notes.txt").write_text("mine")
    (store / "orders-1").mkdir()
    notes = [one for one in found(0) if one.startswith("note")]
    assert f"note: orders-0: {store}/orders-0/notes.txt is not a file of the log" in notes
    assert f"note: folders: {store}/orders-1 belongs to no partition of the store" in notes


def test_the_topic_id_beside_the_segments_is_checked(store: Path, found: Found) -> None:
    path = store / "orders-0" / "partition.metadata"
    text = path.read_text()
    path.write_text(text.replace(text[-4:], "AAAA"))
    assert problems(found)[0] == (f"problem: orders-0: {path} has another topic id than the store")


def test_a_damaged_row_is_found(store: Path, found: Found) -> None:
    with lmdb.Environment(str(store), max_dbs=8) as environment:
        rows = environment.open_db(b"rows", create=False)
        with environment.begin(write=True, db=rows) as txn:
            txn.put(b"store\0log" + bytes(4), b"nonsense")
    assert any("the row of partition 0 is damaged" in one for one in problems(found))


def test_a_store_that_compacts_its_segments_is_valid(tmp_path: Path) -> None:
    """In the middle of a pass: `.cleaned` has the first batches, the segment the others."""
    storage = open_storage(f"files://{tmp_path}", "os")
    with closing(storage.commit):
        fill(storage, "orders", **{"cleanup.policy": "compact"})
        at_once(storage.commit.commit)
        storage.log.replace(0, 5, 9, [], [])
        row = b'{"end":[40,1039,39],"start":0,"size":40000,"segment":[20,20000,1020]}'
        storage.state.put("partitions", bytes(4), row)
        at_once(storage.commit.commit)
        assert list(tmp_path.glob("*/*.log.cleaned"))
    assert main(["storage", "verify", str(tmp_path)]) == 0
