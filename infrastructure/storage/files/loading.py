"""The segments of a log from its rows and its files, after a crash as well.

The rows decide which segments there are: a power cut may bring back the name of one that was
removed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from infrastructure.storage.files.headers import Damaged
from infrastructure.storage.files.log_files import LogFiles
from infrastructure.storage.files.open_files import OpenFiles
from infrastructure.storage.files.rows import COMPLETE
from infrastructure.storage.files.segment import CLEANED, LOG, SWAP, Segment, name_of

KINDS = LOG, ".index", ".timeindex"
NUMBERED = re.compile(r"(\d{20})(\.log|\.index|\.timeindex|\.txnindex)(\.cleaned|\.swap)?")


def recover(log: LogFiles, bases: set[int]) -> None:
    """Removes what no commit has reached, and ends what a commit has begun. Raises OSError."""
    row, folder = log.row, log.folder
    rewritten = {one.base_offset: one for one in row.rewrites}
    with suppress(FileNotFoundError):
        for base, one in rewritten.items():
            if one.is_complete:
                swap_files(f"{folder}/{name_of(base)}")
        for name in os.listdir(folder):
            found = NUMBERED.fullmatch(name)
            if found is None:
                continue
            base, suffix = int(found[1]), found[3]
            is_known = base in bases
            if suffix:
                rewrite = rewritten.get(base)
                is_known = is_known and rewrite is not None and rewrite.from_position != COMPLETE
            if not is_known:
                os.unlink(f"{folder}/{name}")


def segments_of(log: LogFiles, files: OpenFiles, bases: set[int]) -> list[Segment]:
    """Raises OSError."""
    row, folder = log.row, log.folder
    segments: list[Segment] = []
    if not row.has_batches:
        return segments
    sizes, suffixes = _log_files(log, bases)
    rewritten = {one.base_offset: one for one in row.rewrites}
    for base in sorted(sizes):
        size_bytes = row.active_bytes if base == row.active_base else sizes[base]
        one = rewritten.get(base)
        if one is None:
            segments.append(Segment(files, folder, base, size_bytes))
        elif one.is_complete:
            suffix = suffixes.get(base, "")
            segments.append(Segment(files, folder, base, one.size_bytes, suffix))
        else:
            segments.append(Segment(files, folder, base, one.size_bytes, CLEANED))
            rest = one.from_offset, one.from_position
            segments.append(Segment(files, folder, base, size_bytes, "", *rest))
    for base in (row.first_base, row.active_base, *rewritten):
        if base not in sizes:
            # Beside a broker: it may have removed it.
            raise FileNotFoundError(f"{folder}/{name_of(base)}{LOG} is missing")
    for segment in segments:
        actual_bytes = os.path.getsize(segment.path)
        if actual_bytes < segment.size_bytes:
            raise Damaged(
                f"{segment.path} is cut off: {actual_bytes} of {segment.size_bytes} bytes"
            )
    return segments


def _log_files(log: LogFiles, bases: set[int]) -> tuple[dict[int, int], dict[int, str]]:
    """Sizes of the segments, and which of them has a file with a suffix."""
    sizes: dict[int, int] = {}
    suffixes: dict[int, str] = {}
    with os.scandir(log.folder) as entries:
        for entry in entries:
            found = NUMBERED.fullmatch(entry.name)
            if found is None or found[2] != LOG:
                continue
            base = int(found[1])
            if base not in bases:
                continue
            if found[3]:
                suffixes[base] = found[3]
            else:
                sizes[base] = entry.stat().st_size
    return sizes, suffixes


def cut_tails(segments: list[Segment]) -> None:
    """What is behind the committed end. Raises OSError."""
    for segment in segments:
        if os.path.getsize(segment.path) > segment.size_bytes:
            os.truncate(segment.path, segment.size_bytes)


def swap_files(plain: str) -> None:
    """`.cleaned` becomes `.swap` first, as in Kafka, which ends what it finds as such."""
    for kind in reversed(KINDS):
        with suppress(FileNotFoundError):
            os.rename(f"{plain}{kind}{CLEANED}", f"{plain}{kind}{SWAP}")
    for kind in KINDS:
        if os.path.exists(f"{plain}{kind}{SWAP}"):
            os.rename(f"{plain}{kind}{SWAP}", f"{plain}{kind}")
