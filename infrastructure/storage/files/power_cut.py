"""After a power cut with flush=os: each log is read, and cut at its first batch that is not whole.

The rows may say more than the files have, and the names of files may be older, or newer. Each log
has a mark until the rows of its partition fit it (opening.py): the marks are in the same commit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct
from struct import error as StructError
from typing import TYPE_CHECKING

from infrastructure.kafka_folder import files as kafka_files
from infrastructure.kafka_folder.checkpoints import topic_id
from infrastructure.kafka_folder.refused import FolderRefused
from infrastructure.storage.engine import Edges
from infrastructure.storage.errors import StorageDamaged
from infrastructure.storage.files.places import named_folder, unnamed_folder
from infrastructure.storage.files.rows import (
    PREFIX,
    SEGMENT_PREFIX,
    Finished,
    LogRow,
    base_of,
    key_of,
    partition_of,
    segment_key,
    unpack,
)
from infrastructure.storage.files.whole_segments import LogCheck
from infrastructure.storage.lmdb.commit import UNREADABLE, WritePass, storage_failed
from infrastructure.storage.lmdb.own_rows import OwnRows
from infrastructure.storage.lmdb.timestamp_index import TimestampIndex

if TYPE_CHECKING:
    from infrastructure.storage.lmdb.environment import LmdbEnvironment

_PREFIX = b"cut"
#: Whether the log is shorter than its row said, first and end offset.
_EDGES = Struct(">?QQ")
#: Named in a message.
_NAMED = 5


def cut_logs(environment: LmdbEnvironment) -> str:
    """Returns which logs of topics were cut, in words. Raises StorageDamaged if read-only."""
    rows = OwnRows(environment.env, environment.rows, PREFIX)
    finished: dict[int, dict[int, Finished]] = {}
    try:
        for key, packed in rows.other(SEGMENT_PREFIX).scan():
            finished.setdefault(partition_of(key), {})[base_of(key)] = Finished.unpack(packed)
        logs = {partition_of(key): unpack(packed) for key, packed in rows.scan()}
    except (StructError, ValueError) as damage:
        raise StorageDamaged(
            f"the machine went down while the store in {environment.folder} was open with "
            f"flush=os, and a row of it is damaged ({damage}): restore a copy, or begin with an "
            "empty folder"
        ) from damage
    found, checks = [], []
    for partition_id, row in logs.items():
        folder = _folder_of(environment.folder, partition_id, row)
        check = LogCheck(folder, row, finished.get(partition_id, {}), environment.read_only)
        if not environment.read_only:
            _remove_indexes(folder)
        is_changed = check.run()
        checks.append((partition_id, check, is_changed))
        if is_changed:
            found.append((partition_id, check))
    if found and environment.read_only:
        raise StorageDamaged(
            f"the machine went down while the store in {environment.folder} was open with "
            f"flush=os, and {len(found)} logs have to be cut: start a broker on it first"
        )
    if not environment.read_only:
        _put(environment, rows, checks)
    names = [
        f"{row.name.topic}-{row.name.partition} at {check.row.end_offset}"
        for partition_id, check in found
        if (row := logs[partition_id]).name is not None and check.row.end_offset < row.end_offset
    ]
    return f"{', '.join(names[:_NAMED])}{' and others' if len(names) > _NAMED else ''}"


def _put(
    environment: LmdbEnvironment, rows: OwnRows, checks: list[tuple[int, LogCheck, bool]]
) -> None:
    segments, marks = rows.other(SEGMENT_PREFIX), rows.other(_PREFIX)
    times = TimestampIndex(environment.env, environment.timestamps)
    with environment.env.begin(write=True, buffers=True) as txn:
        for partition_id, check, is_changed in checks:
            edges = _EDGES.pack(is_changed, check.first_offset, check.row.end_offset)
            marks.put(txn, key_of(partition_id), edges)
            if not is_changed:
                continue
            rows.put(txn, key_of(partition_id), check.row.pack())
            for base, one in check.changed.items():
                packed = None if one is None else one.pack()
                segments.put(txn, segment_key(partition_id, base), packed)
            times.delete_from(txn, partition_id, check.indexed_until)


def _folder_of(root: Path, partition_id: int, row: LogRow) -> str | None:
    """None: it is not there, or the one with its name is another log's."""
    unnamed = unnamed_folder(str(root), partition_id)
    if os.path.isdir(unnamed):
        return unnamed
    if row.name is None:
        return None
    named = named_folder(str(root), row.name)
    with suppress(OSError, FolderRefused):
        if topic_id(Path(named, kafka_files.PARTITION_METADATA)) == row.name.topic_id:
            return named
    return None


def _remove_indexes(folder: str | None) -> None:
    """Any part of them may be missing; they are rebuilt when they are used."""
    for path in Path(folder).iterdir() if folder is not None else ():
        if ".index" in path.suffixes or ".timeindex" in path.suffixes:
            path.unlink()


class CutLogs:
    """Implements infrastructure.storage.engine.CutLogs."""

    __slots__ = ("_pass", "_rows")

    def __init__(self, rows: OwnRows, write_pass: WritePass) -> None:
        self._rows = rows.other(_PREFIX)
        self._pass = write_pass

    def edges(self) -> Iterator[tuple[int, Edges]]:
        try:
            found = list(self._rows.scan())
            for key, packed in found:
                yield partition_of(key), Edges(*_EDGES.unpack(packed))
        except UNREADABLE as error:
            raise storage_failed("could not read", error) from error

    def settled(self, partition_id: int) -> None:
        txn = self._pass.begin()
        if txn is not None:
            self._rows.put(txn, key_of(partition_id), None)
