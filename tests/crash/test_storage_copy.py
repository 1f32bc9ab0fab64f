"""`ottla storage copy` is killed, from and to each engine: there is a whole copy, or none."""

from __future__ import annotations

import argparse
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infrastructure.opening import open_storage
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.run import Run
from infrastructure.storage.files.segment import Segment
from infrastructure.storage.files.staged import StagedLogs
from infrastructure.storage.lmdb.commit import LmdbCommit
from interfaces.cli.storage import copy as copying
from interfaces.cli.storage.copy import copy
from tests.contract.batches import batch

PARTITIONS, BATCHES = 3, 60
EVERYTHING = 1 << 62

#: The process dies at the nth call of one of these.
MOMENTS: dict[str, tuple[Any, str]] = {
    "a commit": (LmdbCommit, "commit"),
    "the rows": (copying._Copying, "rows"),
    "a write": (Run, "write"),
    "a commit with its files written": (StagedLogs, "committed"),
    "the end of a segment": (Segment, "end_appends"),
    "a new folder": (LogFolder, "make_folder"),
    "the close": (LogFolder, "close"),
    "the rename": (Path, "rename"),
}


def make_store(url: str) -> None:
    chance = random.Random(url.partition("://")[0])
    storage = open_storage(url, "os")
    for partition_id in range(PARTITIONS):
        for offset in range(BATCHES):
            data = batch(offset, chance.randbytes(chance.choice((50, 2000, 40_000))))
            storage.log.append(partition_id, offset, data, offset, offset % 9 == 0)
    storage.state.put("configs", b"a", b"row")
    storage.commit.commit(lambda failure: None)
    storage.commit.close()


def contents_of(url: str) -> list[Any]:
    storage = open_storage(url, "os", read_only=True)
    try:
        logs = [storage.log.read(one, 0, EVERYTHING, EVERYTHING, True) for one in range(PARTITIONS)]
        return [*logs, storage.state.get("configs", b"a")]
    finally:
        storage.commit.close()


def killed_copy(source: str, target: str, moment: str, number: int) -> int:
    """Its exit code: a signal is negative."""
    pid = os.fork()
    if pid == 0:
        try:
            owner, method = MOMENTS[moment]
            setattr(owner, method, _dies(getattr(owner, method), number))
            copying._COMMIT_BYTES = 200_000
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            copy(argparse.Namespace(store=source, target=target))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _dies(call: Callable[..., Any], number: int) -> Callable[..., Any]:
    left = number

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)

    return counted


@pytest.mark.parametrize(("engine", "to"), [("lmdb", "files"), ("files", "lmdb")])
def test_a_killed_copy_is_repeated(engine: str, to: str, tmp_path: Path) -> None:
    source, target = f"{engine}://{tmp_path}/store", f"{to}://{tmp_path}/copy"
    make_store(source)
    died = set()
    for moment in MOMENTS:
        for number in (1, 4):
            if killed_copy(source, target, moment, number) == -signal.SIGKILL:
                died.add(moment)
            if (tmp_path / "copy").exists():
                assert contents_of(target) == contents_of(source)
                os.rename(tmp_path / "copy", tmp_path / f"{moment} {number}")
    assert died >= ({"a commit", "the rows", "the rename"} if to == "lmdb" else set(MOMENTS))
    copy(argparse.Namespace(store=source, target=target))
    assert contents_of(target) == contents_of(source)
    assert not (tmp_path / "copy.partial").exists()
