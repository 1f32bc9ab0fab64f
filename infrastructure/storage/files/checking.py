"""FilesCheck: whether the files of logs are as their rows and batches say, for `storage verify`.

Batches are checked as those of any engine; here are names, segments, and the two indexes of each by
Kafka's rules. An index may lag behind its segment: after a kill its newest entries are missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from struct import Struct

from application.ports.log_store import LogName
from infrastructure.kafka_folder import files as kafka_files
from infrastructure.kafka_folder.checkpoints import topic_id
from infrastructure.kafka_folder.index_entries import INDEX_ENTRY, TIME_ENTRY
from infrastructure.kafka_folder.refused import FolderRefused
from infrastructure.storage.engine import Oddity
from infrastructure.storage.files.headers import Header
from infrastructure.storage.files.loading import NUMBERED
from infrastructure.storage.files.log_files import LogFiles
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.segment import LOG, Segment, name_of

_OF_THE_LOG = re.compile(r"\d{20}\.snapshot|leader-epoch-checkpoint|partition\.metadata")


class FilesCheck:
    """Implements infrastructure.storage.engine.FilesCheck."""

    def __init__(self, folder: LogFolder) -> None:
        self._folder = folder
        self.segments = 0

    def log(self, partition_id: int, name: LogName) -> Iterator[Oddity]:
        try:
            log = self._folder.find(partition_id)
            if log is None:
                return
            yield from _check_name(log, name)
            if log.row.has_batches:
                yield from _check_listing(log)
                for segment in _files_of(log):
                    self.segments += 1
                    yield from _check_segment(segment)
        except OSError as error:
            yield Oddity(True, str(error))

    def strays(self) -> Iterator[Oddity]:
        known = set(self._folder.folders_in_rows())
        for folder in sorted(self._folder.folders()):
            if folder not in known:
                yield Oddity(False, f"{folder} belongs to no partition of the store")


def _check_name(log: LogFiles, name: LogName) -> Iterator[Oddity]:
    if log.row.name != name:
        yield Oddity(True, f"{log.folder} has another name in the store than its topic")
    metadata = Path(log.folder, kafka_files.PARTITION_METADATA)
    if metadata.exists():
        try:
            if topic_id(metadata) != name.topic_id:
                yield Oddity(True, f"{metadata} has another topic id than the store")
        except FolderRefused as wrong:
            yield Oddity(True, str(wrong))


def _check_listing(log: LogFiles) -> Iterator[Oddity]:
    row = log.row
    bases: set[int] = {row.first_base}
    there: set[int] = set()
    for name in sorted(os.listdir(log.folder)):
        numbered = NUMBERED.fullmatch(name)
        if numbered is None:
            if not _OF_THE_LOG.fullmatch(name):
                yield Oddity(False, f"{log.folder}/{name} is not a file of the log")
            continue
        base = int(numbered[1])
        # What no commit has reached, or has removed, goes at the next start.
        if row.first_base <= base <= row.active_base and not numbered[3]:
            bases.add(base)
            if numbered[2] == LOG:
                there.add(base)
    for base in sorted(bases - there):
        if not any(one.base_offset == base for one in row.rewrites):
            yield Oddity(True, f"{log.folder}/{name_of(base)}{LOG} is missing")


def _files_of(log: LogFiles) -> Iterator[Segment]:
    """Without those that are about to be replaced, with their indexes."""
    replaced = {one.base_offset for one in log.row.rewrites if one.is_complete}
    for segment in log.segments:
        if segment.file_base not in replaced:
            yield segment


def _check_segment(segment: Segment) -> Iterator[Oddity]:
    """From the first byte of its file on, also where compaction has copied that."""
    offsets = _Entries(segment.path_of(".index"), INDEX_ENTRY)
    times = _Entries(segment.path_of(".timeindex"), TIME_ENTRY)
    if offsets.is_missing:
        what = f"{offsets.path} is missing, and is rebuilt when the segment is used"
        yield Oddity(False, what)
    next_offset, newest = segment.file_base, -1
    for header in segment.walk(0, segment.size_bytes):
        if header.last_offset < next_offset:
            what = f"offset {header.last_offset} comes after {next_offset - 1}"
            yield Oddity(True, f"{segment.path}, byte {header.position}: {what}")
        next_offset = header.last_offset + 1
        rises = header.max_timestamp > newest
        newest = max(newest, header.max_timestamp)
        _check_offset(offsets, header, segment.file_base)
        _check_time(times, header, segment.file_base, rises)
    for entries in (offsets, times):
        entries.end()
        if entries.problem:
            what = f"{entries.path}, {entries.problem}"
            yield Oddity(True, f"{what}; remove {offsets.path}, and both indexes are rebuilt")


class _Entries:
    """Of an index, beside the batches of its segment."""

    def __init__(self, path: str, entry: Struct) -> None:
        self.path = path
        self._entry = entry
        self._number = 0
        self.problem = ""
        try:
            self._data = Path(path).read_bytes()
        except FileNotFoundError:
            self._data = b""
            self.is_missing = True
        else:
            self.is_missing = False
        if len(self._data) % entry.size:
            self.problem = f"entry {len(self._data) // entry.size}: it is cut off"

    def next(self) -> tuple[int, int] | None:
        """The first entry that fits no batch so far; None: there is none, or one is wrong."""
        at = self._number * self._entry.size
        if self.problem or at >= len(self._data):
            return None
        first, second = self._entry.unpack_from(self._data, at)
        return first, second

    def fits(self) -> None:
        self._number += 1

    def wrong(self, why: str) -> None:
        self.problem = f"entry {self._number}: {why}"

    def end(self) -> None:
        """After the last batch."""
        if (entry := self.next()) is not None:
            self.wrong(f"{entry}: the segment has no such batch")


def _check_offset(entries: _Entries, header: Header, file_base: int) -> None:
    entry = entries.next()
    if entry is None or entry[1] > header.position:
        return
    last_offset = file_base + entry[0]
    if entry[1] < header.position:
        entries.wrong(f"no batch begins at byte {entry[1]}")
    elif last_offset != header.last_offset:
        what = f"the batch at byte {entry[1]} ends at offset {header.last_offset}"
        entries.wrong(f"{what}, not at {last_offset}")
    else:
        entries.fits()


def _check_time(entries: _Entries, header: Header, file_base: int, rises: bool) -> None:
    entry = entries.next()
    if entry is None or file_base + entry[1] > header.last_offset:
        return
    timestamp, last_offset = entry[0], file_base + entry[1]
    if last_offset < header.last_offset:
        entries.wrong(f"no batch ends at offset {last_offset}")
    elif timestamp != header.max_timestamp:
        what = f"the batch that ends at offset {last_offset} has timestamp {header.max_timestamp}"
        entries.wrong(f"{what}, not {timestamp}")
    elif not rises:
        entries.wrong(f"a batch before offset {last_offset} has a timestamp that is not smaller")
    else:
        entries.fits()
