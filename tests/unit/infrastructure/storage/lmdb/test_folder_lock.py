from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.lmdb.folder_lock import LOCK_FILE, FolderLock

_HOLD = """
import sys
from pathlib import Path
from infrastructure.storage.lmdb.folder_lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_locked_folder_is_refused_with_the_process_id(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)

    with pytest.raises(StorageInUse, match=f"in use by process {os.getpid()}$"):
        FolderLock(tmp_path)
    lock.release()


def test_a_released_folder_can_be_locked_again(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.release()
    lock.release()

    FolderLock(tmp_path).release()


def test_the_lock_file_of_a_dead_process_does_not_lock(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).write_text("4194304999\n")

    FolderLock(tmp_path).release()


def test_a_killed_process_releases_the_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StorageInUse, match=f"process {holder.pid}$"):
            FolderLock(tmp_path)
        holder.kill()
        holder.wait()

        FolderLock(tmp_path).release()
