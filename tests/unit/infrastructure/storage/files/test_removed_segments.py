"""A segment between others, of which compaction has left nothing, does not come back."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from application.ports.commit import at_once
from application.state.runtime import ignore
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.files import removals
from infrastructure.storage.flush import Flush
from interfaces.cli.storage.opened import batches
from tests.fakes.batches import record_batch


def filled(folder: Path, flush: Flush) -> Storage:
    """Three segments of ten batches."""
    storage = open_storage(f"files://{folder}", flush)
    for offset in range(30):
        batch = record_batch([b"v"], base_offset=offset)
        storage.log.append(0, offset, batch, begins_segment=not offset % 10)
    at_once(storage.commit.commit)
    return storage


def remove_middle(storage: Storage) -> None:
    while not storage.log.copy_before(0, 10):
        at_once(storage.commit.commit)
    storage.log.replace(0, 10, 19, [], [])
    at_once(storage.commit.commit)


def append(storage: Storage, offset: int) -> None:
    storage.log.append(0, offset, record_batch([b"v"], base_offset=offset))
    at_once(storage.commit.commit)


def offsets(storage: Storage) -> list[int]:
    return [batch.base_offset for batch in batches(storage.log, 0)]


LEFT = [*range(10), *range(20, 30)]


@pytest.mark.parametrize("flush", ["commit", "interval", "os"])
@pytest.mark.parametrize("further", [0, 1, 2])
def test_a_kill_before_its_file_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flush: Flush, further: int
) -> None:
    monkeypatch.setattr(removals, "remove", ignore)
    killed = tmp_path / "killed"
    storage = filled(tmp_path / "store", flush)
    with closing(storage.commit):
        remove_middle(storage)
        for number in range(further):
            append(storage, 30 + number)
        assert list(tmp_path.glob("store/*/*10.log"))
        shutil.copytree(tmp_path / "store", killed)
    for read_only in (True, False):
        again = open_storage(f"files://{killed}", flush, read_only=read_only)
        with closing(again.commit):
            assert offsets(again) == [*LEFT, *range(30, 30 + further)]
    assert not list(killed.glob("*/*10.log"))


def test_the_row_forgets_it_when_its_file_is_removed(tmp_path: Path) -> None:
    storage = filled(tmp_path, "commit")
    with closing(storage.commit):
        remove_middle(storage)
        assert not list(tmp_path.glob("*/*10.log"))
        append(storage, 30)
    storage = open_storage(f"files://{tmp_path}")
    with closing(storage.commit):
        assert offsets(storage) == [*LEFT, 30]
        log = storage.log._folder.find(0)  # type: ignore[attr-defined]
        assert log.row.rewrites == ()


def test_more_segments_than_one_byte_counts_may_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removals, "remove", ignore)
    storage = open_storage(f"files://{tmp_path}/store", "os")
    with closing(storage.commit):
        for offset in range(400):
            batch = record_batch([b"v"], base_offset=offset)
            storage.log.append(0, offset, batch, begins_segment=True)
        at_once(storage.commit.commit)
        storage.log.replace(0, 1, 398, [], [])
        at_once(storage.commit.commit)
        shutil.copytree(tmp_path / "store", tmp_path / "killed")
    again = open_storage(f"files://{tmp_path}/killed", "os")
    with closing(again.commit):
        assert offsets(again) == [0, 399]
