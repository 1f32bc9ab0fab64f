"""In the broker's process: named moments within the engine of files, as those of passages.py."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

from infrastructure.storage.files import loading, log_folder, rewriting
from infrastructure.storage.files.index_file import IndexFile
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.removals import Removals
from infrastructure.storage.files.rewriting import Rewriting
from infrastructure.storage.files.run import Run
from infrastructure.storage.files.segment import CLEANED, SWAP, Segment
from infrastructure.storage.files.staged import StagedLogs
from infrastructure.storage.lmdb.own_rows import OwnRows
from tests.crash.passages import Passages

#: Megabytes in production.
SMALL_COPY_BYTES = 8 << 10


def name_the_files(passages: Passages) -> None:
    around = passages.around
    around(Run, "write", "files: not written", "files: written, no row")
    around(StagedLogs, "_sync", "files: before the fsync", "files: synced, no row")
    around(StagedLogs, "put_all", "", "files: rows staged")
    around(StagedLogs, "committed", "files: committed, not applied", "files: applied")
    around(IndexFile, "append", "index: only the time index is written", "index: written")
    around(Segment, "begin_appends", "", "index: begun")
    around(Segment, "end_appends", "index: segment not ended", "index: segment ended")
    around(LogFolder, "make_folder", "", "folder: made")
    around(LogFolder, "_remove", "segment: committed, not removed", "segment: removed")
    around(Removals, "remove", "", "segment: a file is removed")
    around(Removals, "flushed", "flush: removed files are there", "flush: removed files are gone")
    around(LogFolder, "_swap", "swap: committed, not begun", "swap: done")
    around(OwnRows, "put_at_once", "swap: in place, row not changed", "swap: row changed")
    around(Rewriting, "_begin_rewrite", "", "rewrite: .cleaned is empty")
    around(Rewriting, "_copy", "", "rewrite: .cleaned is being written")
    _name_renames(passages)
    for module, function, before, after in (
        (log_folder, "write_topic_id", "folder: no topic id", "folder: topic id written"),
        (log_folder, "recover", "", "load: files of no commit removed"),
        (log_folder, "cut_tails", "load: tails not cut", "load: tails cut"),
    ):
        setattr(module, function, _named(passages, getattr(module, function), before, after))


def _named(passages: Passages, inner: Callable[..., Any], before: str, after: str) -> Any:
    def outer(*arguments: Any) -> Any:
        passages.at(before)
        result = inner(*arguments)
        passages.at(after)
        return result

    return outer


def _name_renames(passages: Passages) -> None:
    rename = os.rename

    def named(source: Any, target: Any) -> None:
        rename(source, target)
        found, given = os.fspath(source), os.fspath(target)
        if found.endswith(CLEANED):
            passages.at("swap: a file is .swap")
        elif found.endswith(SWAP):
            passages.at("swap: a file is in its place")
        elif given.endswith("-stray"):
            passages.at("folder: has lost its name, not committed")
        elif found.endswith("-stray"):
            passages.at("folder: committed, has its name")

    assert loading.os is os
    os.rename = named


def make_copies_small() -> None:
    rewriting.COPIED_AT_ONCE_BYTES = SMALL_COPY_BYTES
    rewriting._PIECE_BYTES = SMALL_COPY_BYTES // 4


def fail_commits(one_of: int) -> None:
    """After all is written, and the folders of deleted topics have lost their names."""
    put_all = StagedLogs.put_all
    count = 0

    def failing(self: StagedLogs, txn: Any) -> None:
        nonlocal count
        put_all(self, txn)
        count += 1
        if count % one_of == 0:
            raise OSError(errno.EIO, "the disk fails")

    StagedLogs.put_all = failing  # type: ignore[method-assign]
