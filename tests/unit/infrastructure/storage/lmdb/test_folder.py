from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from application.state.runtime import ignore
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.errors import StorageInUse, StorageUnusable
from infrastructure.storage.files.folder import FilesFolder
from infrastructure.storage.lmdb.environment import COMPACT_FILE
from infrastructure.storage.lmdb.folder import LmdbFolder, _watched
from tests.fakes.batches import record_batch


def filled(folder: Path) -> Storage:
    storage = open_storage(f"lmdb://{folder}")
    for number in range(200):
        storage.state.put("rows", b"%d" % number, bytes(4000))
    storage.commit.commit(ignore)
    for number in range(199):
        storage.state.put("rows", b"%d" % number, None)
    storage.commit.commit(ignore)
    return storage


def test_a_compacted_store_has_the_same_data_and_is_smaller(tmp_path: Path) -> None:
    storage = filled(tmp_path)
    store_id = storage.info.store_id
    storage.commit.close()
    # Of a killed process.
    (tmp_path / COMPACT_FILE).write_bytes(b"half a copy")

    shares: list[float] = []
    before, after = LmdbFolder(tmp_path).compact(shares.append)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert after * 4 < before
    assert (tmp_path / "data.mdb").stat().st_size == after
    assert not (tmp_path / COMPACT_FILE).exists()
    assert LmdbFolder(tmp_path).check_pages() is None
    again = open_storage(f"lmdb://{tmp_path}")
    assert (again.info.store_id, again.state.tables()) == (store_id, ["rows"])
    assert again.state.get("rows", b"199") == bytes(4000)
    again.commit.close()


def test_no_more_than_the_whole_is_reported(tmp_path: Path) -> None:
    shares: list[float] = []
    copy = tmp_path / "copy"
    copy.write_bytes(bytes(10))
    with copy.open("rb") as file, _watched(file.fileno(), 4, shares.append):
        pass
    assert shares == [1.0]


def test_a_compacted_store_keeps_owner_and_mode(tmp_path: Path) -> None:
    filled(tmp_path).commit.close()
    data_file = tmp_path / "data.mdb"
    data_file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(data_file, 4711, 4712)
    before = data_file.stat()

    LmdbFolder(tmp_path).compact(ignore)

    after = data_file.stat()
    assert after.st_ino != before.st_ino
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_a_store_in_use_is_refused(tmp_path: Path) -> None:
    storage = filled(tmp_path)
    folder = LmdbFolder(tmp_path)
    for look in (lambda: folder.compact(ignore), folder.check_pages, folder.last_end):
        with pytest.raises(StorageInUse):
            look()
    storage.commit.close()
    assert "closed cleanly" in LmdbFolder(tmp_path).last_end()


def test_a_failed_compaction_leaves_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path).commit.close()
    before = (tmp_path / "data.mdb").read_bytes()

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("infrastructure.storage.lmdb.folder.os.fsync", no_room)
        with pytest.raises(Exception, match="No space left"):
            LmdbFolder(tmp_path).compact(ignore)
    assert (tmp_path / "data.mdb").read_bytes() == before
    assert not (tmp_path / COMPACT_FILE).exists()


#: Steps of a compaction; each dies before or after its call.
STEPS = ("copyfd", "fsync", "close", "rename", "sync_folder")

_COMPACT_AND_DIE = """
import os, signal, sys
from pathlib import Path
from infrastructure.storage.lmdb import folder as module

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def deadly(call, when):
    def called(*arguments, **named):
        if when == "before":
            die()
        call(*arguments, **named)
        die()
    return called

class Deadly:
    def __init__(self, inner, step, when):
        self.inner = inner
        setattr(self, step, deadly(getattr(inner, step), when))

    def __getattr__(self, name):
        return getattr(self.inner, name)

def compact(path, step, when):
    if step in ("copyfd", "close"):
        def opened(*arguments, open=module.LmdbEnvironment):
            environment = open(*arguments)
            environment.env = Deadly(environment.env, step, when)
            return environment
        module.LmdbEnvironment = opened
    else:
        owner = {"fsync": module.os, "rename": Path, "sync_folder": module}[step]
        setattr(owner, step, deadly(getattr(owner, step), when))
    module.LmdbFolder(Path(path)).compact(lambda share: None)

for path in sys.argv[1:]:
    child = os.fork()
    if not child:
        compact(path, *os.path.basename(path).split("-"))
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, path
"""


def test_a_compaction_that_is_killed_leaves_one_whole_store(tmp_path: Path) -> None:
    filled(tmp_path / "filled").commit.close()
    folders = [tmp_path / f"{step}-{when}" for step in STEPS for when in ("before", "after")]
    for folder in folders:
        shutil.copytree(tmp_path / "filled", folder)
    died = subprocess.run([sys.executable, "-c", _COMPACT_AND_DIE, *folders], check=False)
    assert died.returncode == 0

    sizes = [(folder / "data.mdb").stat().st_size for folder in folders]
    for folder in folders:
        assert LmdbFolder(folder).check_pages() is None
        again = open_storage(f"lmdb://{folder}")
        assert again.state.get("rows", b"199") == bytes(4000)
        again.commit.close()
        assert not (folder / COMPACT_FILE).exists()
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] * 4 < sizes[0]


def left_over_of_a_copy(path: Path) -> Path:
    """Of one into files:// that was killed."""
    partial = path.with_name(f"{path.name}.partial")
    storage = open_storage(f"files://{partial}", "os")
    storage.log.append(0, 0, record_batch([b"v"]))
    storage.commit.commit(ignore)
    storage.commit.close()
    assert any(partial.glob("*/*.log"))
    return partial


def test_a_left_over_with_folders_of_logs_is_replaced(tmp_path: Path) -> None:
    target = FilesFolder(tmp_path / "copy")
    partial = left_over_of_a_copy(target.path)
    with target.made_whole() as url:
        assert not partial.exists()
        open_storage(url, "os").commit.close()
    assert target.has_store()
    assert not partial.exists()


def test_a_left_over_is_known_as_one_until_its_last_file_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FilesFolder(tmp_path / "copy")
    partial = left_over_of_a_copy(target.path)
    steps: list[set[str]] = []
    unlink, rmdir = os.unlink, os.rmdir

    def watched(remove: Callable[..., None]) -> Callable[..., None]:
        def step(*arguments: Any, **how: Any) -> None:
            steps.append(set(os.listdir(partial)))
            remove(*arguments, **how)

        return step

    monkeypatch.setattr(os, "unlink", watched(unlink))
    monkeypatch.setattr(os, "rmdir", watched(rmdir))
    with target.made_whole() as url:
        monkeypatch.undo()
        open_storage(url, "os").commit.close()
    of_no_log = {"data.mdb", "lock.mdb", "ottla.lock", "ottla.reserve", "ottla.unsynced"}
    assert len(steps) > 3
    assert all("data.mdb" in step or step <= of_no_log for step in steps)


def test_folders_of_others_are_not_a_left_over(tmp_path: Path) -> None:
    partial = tmp_path / "copy.partial"
    (partial / "orders-0").mkdir(parents=True)
    refused = pytest.raises(StorageUnusable, match="is in the way: what lies in it is no store")
    with refused, FilesFolder(tmp_path / "copy").made_whole():
        pass
    assert (partial / "orders-0").exists()
