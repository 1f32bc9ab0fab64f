"""What each kind of crash leaves in a folder, and what opening makes of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from infrastructure.opening import open_storage
from infrastructure.storage.files import rewriting
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.staged import StagedLogs
from tests.contract.batches import batch
from tests.fakes.files_store import ORDERS, FilesStore, P, unnamed


def names(store: FilesStore, folder: str = "") -> list[str]:
    return sorted(os.listdir(store.folder / (folder or unnamed(P))))


def plain(*bases: int) -> list[str]:
    return sorted(f"{base:020d}.{kind}" for base in bases for kind in ("index", "log", "timeindex"))


# ---- behind the commit


def test_what_lies_behind_the_committed_end_is_cut_off(store: FilesStore) -> None:
    data = store.fill([0], [1])
    store.close()
    with store.path(1).open("ab") as file:
        file.write(batch(2, size_bytes=100) + b"half a batch")
    store.reopen()
    assert store.everything() == data
    assert store.path(1).stat().st_size == 100


def test_segments_that_no_commit_reached_are_removed(store: FilesStore) -> None:
    data = store.fill([0], [1])
    store.close()
    shutil.copy(store.path(1), store.path(9))
    for kind in ("index", "timeindex", "txnindex", "log.cleaned", "index.swap"):
        store.path(9, kind).touch()
    store.reopen()
    assert store.everything() == data
    assert names(store) == plain(0, 1)


def test_segments_that_were_removed_by_a_commit_go(store: FilesStore) -> None:
    data = store.fill([5], [6])
    store.close()
    shutil.copy(store.path(5), store.path(3))
    store.path(3, "index").touch()
    store.reopen()
    assert store.everything() == data
    assert names(store) == plain(5, 6)


@pytest.mark.parametrize("suffix", ["cleaned", "swap"])
def test_a_rewrite_without_a_row_is_removed(store: FilesStore, suffix: str) -> None:
    data = store.fill([0], [1])
    store.close()
    for kind in ("log", "index", "timeindex"):
        store.path(0, f"{kind}.{suffix}").write_bytes(b"any")
    store.reopen()
    assert store.everything() == data
    assert names(store) == plain(0, 1)


def test_files_of_others_stay(store: FilesStore) -> None:
    data = store.fill([0])
    store.close()
    left = ["leader-epoch-checkpoint", "partition.metadata", f"{0:020d}.snapshot", "notes.txt"]
    for name in left:
        (store.folder / unnamed(P) / name).write_bytes(b"any")
    (store.folder / "other-0").mkdir()
    store.reopen()
    assert store.everything() == data
    assert set(left) < set(names(store))
    assert (store.folder / "other-0").is_dir()


# ---- a rewrite


@pytest.fixture
def half_rewritten(store: FilesStore, monkeypatch: pytest.MonkeyPatch) -> tuple[FilesStore, bytes]:
    """The first of ten batches is removed, the third is as well; the copy has reached there."""
    monkeypatch.setattr(rewriting, "COPIED_AT_ONCE_BYTES", 100)
    data = store.fill(list(range(10)), [10])
    for offset in (0, 2):
        while not store.log.copy_before(P, offset):
            store.keep()
        store.log.replace(P, offset, offset, [], [])
        store.keep()
    return store, data[100:200] + data[300:]


def complete(store: FilesStore) -> None:
    while not store.log.copy_before(P, 1 << 63):
        store.keep()
    store.keep()


def test_a_rewrite_goes_on_after_a_kill(half_rewritten: tuple[FilesStore, bytes]) -> None:
    store, data = half_rewritten
    assert store.path(0, "log.cleaned").exists()
    store.kill()
    assert store.everything() == data
    with store.path(0, "log.cleaned").open("ab") as file:
        file.write(b"of no commit")
    store.kill()
    assert store.everything() == data
    complete(store)
    store.kill()
    assert store.everything() == data
    assert names(store) == plain(0, 10)
    assert store.path(0).stat().st_size == 800


@pytest.mark.parametrize("kinds_renamed", range(6))
def test_a_complete_rewrite_takes_its_place(
    half_rewritten: tuple[FilesStore, bytes], monkeypatch: pytest.MonkeyPatch, kinds_renamed: int
) -> None:
    """Killed between any two renames."""
    store, data = half_rewritten
    monkeypatch.setattr(LogFolder, "_swap", lambda *arguments: None)
    complete(store)
    assert store.path(0, "log.cleaned").exists()
    store.kill()
    folder = store.path(0).parent
    # Closed, loaded by nobody: `.cleaned` is complete.
    store.close()
    assert store.path(0, "log.cleaned").exists()
    steps = [
        *((f"{kind}.cleaned", f"{kind}.swap") for kind in ("timeindex", "index", "log")),
        *((f"{kind}.swap", kind) for kind in ("log", "index", "timeindex")),
    ]
    for before, after in steps[:kinds_renamed]:
        if store.path(0, before).exists():
            store.path(0, before).rename(store.path(0, after))
    store.reopen()
    assert store.everything() == data
    assert sorted(os.listdir(folder)) == plain(0, 10)
    store.kill()
    assert store.everything() == data


def test_a_store_beside_reads_a_rewrite_that_is_not_in_its_place(
    half_rewritten: tuple[FilesStore, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, data = half_rewritten
    monkeypatch.setattr(LogFolder, "_swap", lambda *arguments: None)
    complete(store)
    store.close()
    before = state_of(store.folder)
    assert read_only(store.folder) == data
    for kind in ("timeindex", "index", "log"):
        if store.path(0, f"{kind}.cleaned").exists():
            store.path(0, f"{kind}.cleaned").rename(store.path(0, f"{kind}.swap"))
    assert read_only(store.folder) == data
    assert {name.replace(".swap", ".cleaned") for name in state_of(store.folder)} == set(before)


def test_a_snapshot_of_a_half_rewritten_segment_is_restored(
    half_rewritten: tuple[FilesStore, bytes],
) -> None:
    store, data = half_rewritten
    assert store.storage.take_snapshot is not None
    snapshot = store.storage.take_snapshot()
    for _ in range(2):
        complete(store)
        store.log.trim(P, 10, 9)
        store.append(11)
        store.keep()
        snapshot.restore()
        assert store.everything() == data
        store.kill()
        assert store.everything() == data
        snapshot = store.storage.take_snapshot()
    snapshot.delete()


# ---- folders


def test_a_folder_without_a_name_has_the_data(store: FilesStore) -> None:
    """Killed between the commit that gives a name and the rename."""
    store.name()
    data = store.fill([0])
    store.close()
    (store.folder / "orders-0").rename(store.folder / unnamed(P))
    stale = store.folder / "orders-0"
    stale.mkdir()
    (stale / f"{0:020d}.log").write_bytes(batch(0, b"stale"))
    before = state_of(store.folder)
    assert read_only(store.folder) == data
    assert state_of(store.folder) == before
    store.reopen()
    assert store.everything() == data
    assert not (store.folder / unnamed(P)).exists()
    assert len(list(store.folder.glob("orders-0.*-delete"))) == 1


def test_a_pass_that_dies_before_the_commit_leaves_the_name(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.name()
    data = store.fill([0])
    store.name(None)
    monkeypatch.setattr(StagedLogs, "clear", lambda self: None)
    monkeypatch.setattr(StagedLogs, "committed", lambda self: None)
    store.log._staged.put_all(store.log._pass.txn)  # type: ignore[attr-defined]
    assert (store.folder / unnamed(P)).is_dir()
    store.kill()
    assert store.everything() == data
    assert store.path(0, folder="orders-0").exists()


def test_folders_of_killed_processes_are_removed(store: FilesStore) -> None:
    data = store.fill([0])
    store.close()
    left_over = ["ottla.snapshot.0123456789abcdef0123456789abcdef-stray", unnamed(99)]
    for name in left_over:
        (store.folder / name / "deep").mkdir(parents=True)
    assert read_only(store.folder) == data
    assert all((store.folder / name).exists() for name in left_over)
    store.reopen()
    assert store.everything() == data
    assert not any((store.folder / name).exists() for name in left_over)


def test_a_dropped_log_leaves_nothing(store: FilesStore) -> None:
    store.name()
    store.fill([0], [1])
    store.name(None)
    store.keep()
    store.drop()
    assert store.listing() == []
    assert store.log.partition_ids() == []
    assert store.files.find(P) is None


# ---- damage that is told


def test_a_missing_segment_is_told_and_its_topic_can_be_deleted(store: FilesStore) -> None:
    store.name()
    store.fill([0], [1], [2])
    for base in (0, 2):
        store.close()
        kept = store.path(base, folder="orders-0").rename(store.folder / "kept")
        store.reopen()
        with pytest.raises(Exception, match=rf"{base:020d}\.log is missing"):
            store.everything()
        if base:
            break
        store.close()
        kept.rename(store.path(base, folder="orders-0"))
    store.append(0, partition_id=P + 1)
    store.keep()
    store.name(None)
    store.keep()
    store.drop()
    assert store.log.partition_ids() == [P + 1]
    assert not (store.folder / "orders-0").exists()
    assert not (store.folder / unnamed(P)).exists()


def test_a_damaged_log_stays_where_its_deletion_fails(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.name()
    store.fill([0])
    store.close()
    kept = store.path(0, folder="orders-0").rename(store.folder / "kept")
    store.reopen()
    with monkeypatch.context() as patch:
        patch.setattr(type(store.files.rows), "put", _failing)
        store.name(None)
        store.refused()
    with pytest.raises(Exception, match="is missing"):
        store.everything()
    kept.rename(store.path(0, folder="orders-0"))
    assert len(store.everything()) == 100


def test_a_log_that_is_cut_off_is_told(store: FilesStore) -> None:
    store.fill([0], [1])
    store.close()
    os.truncate(store.path(1), 60)
    store.reopen()
    with pytest.raises(Exception, match="is cut off: 60 of 100 bytes"):
        store.everything()
    store.append(2)
    assert "is cut off" in store.refused()


# ---- read-only


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Of all files but LMDB's table of readers."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        if path.name not in {"lock.mdb", "ottla.lock"}:
            status = path.stat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(folder))] = status.st_size, status.st_mtime_ns, content
    return found


def read_only(folder: Path) -> bytes:
    storage = open_storage(f"files://{folder}", "commit", read_only=True)
    try:
        return storage.log.read(P, 0, 1 << 40, 1 << 40, True)
    finally:
        storage.commit.close()


def test_reading_changes_nothing(half_rewritten: tuple[FilesStore, bytes]) -> None:
    """Behind the committed end, without indexes, with what no commit reached."""
    store, data = half_rewritten
    store.name(ORDERS)
    store.keep()
    store.close()
    folder = "orders-0"
    store.path(10, "index", folder).unlink()
    store.path(0, "index", folder).write_bytes(b"wrong")
    shutil.copy(store.path(10, folder=folder), store.path(44, folder=folder))
    with store.path(10, folder=folder).open("ab") as file:
        file.write(b"of no commit")
    before = state_of(store.folder)
    assert read_only(store.folder) == data
    assert state_of(store.folder) == before


def _failing(*arguments: object) -> None:
    raise OSError(5, "Input/output error")
