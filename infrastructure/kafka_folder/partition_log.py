"""PartitionLog: the log of one partition, from its segments.

Kafka removes files some time after it has renamed them to `*.deleted`, and ignores `*.cleaned` of
a compaction that was interrupted; so does this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from domain.messages.batch import RecordBatch
from infrastructure.kafka_folder import files
from infrastructure.kafka_folder.checkpoints import leader_epochs, topic_id
from infrastructure.kafka_folder.producer_snapshot import SnapshotEntry, read_snapshot
from infrastructure.kafka_folder.refused import Damaged, FolderRefused, readable
from infrastructure.kafka_folder.segment import batches

_BESIDE = files.LEADER_EPOCHS, files.PARTITION_METADATA
_NUMBERED = re.compile(r"(\d{20})\.(log|index|timeindex|txnindex|snapshot)")
#: Of the metadata log: snapshots, and those that Kafka has not removed or finished.
_OF_METADATA = re.compile(r"\d{20}-\d{10}\.checkpoint(\.deleted|\.part)?|quorum-state")
_LEFT_OVER = re.compile(r"\d{20}\.\w+\.(deleted|cleaned)|.*\.tmp")


class Segment(NamedTuple):
    base_offset: int
    path: Path
    size_bytes: int


class PartitionLog:
    def __init__(self, folder: Path, start_offset: int = 0, cut_tail: bool = False) -> None:
        """`start_offset` is that of the checkpoint. With `cut_tail` the log ends before the first
        bytes of its last segment that are not a whole batch. Raises FolderRefused.
        """
        self.folder = folder
        self._cut_tail = cut_tail
        #: Of the last segment, after its last whole batch; known when they were read.
        self.cut_bytes = 0
        self.segments: list[Segment] = []
        self._snapshots: list[int] = []
        with readable(folder):
            for path in sorted(folder.iterdir()):
                self._add(path)
        if not self.segments:
            raise FolderRefused(f"{folder} has no segment")
        self.start_offset = max(start_offset, self.segments[0].base_offset)

    def _add(self, path: Path) -> None:
        if path.name in (files.LEADER_EPOCHS, files.PARTITION_METADATA) or _LEFT_OVER.fullmatch(
            path.name
        ):
            return
        numbered = _NUMBERED.fullmatch(path.name)
        if numbered is None:
            if _OF_METADATA.fullmatch(path.name):
                return
            if path.suffix == ".swap":
                raise FolderRefused(
                    f"{path} is of a compaction that was interrupted: start and stop Kafka once"
                )
            raise FolderRefused(f"{path} is not a file of Kafka's")
        if not path.is_file():
            raise FolderRefused(f"{path} is not a file")
        offset, kind = int(numbered[1]), numbered[2]
        if kind == "log":
            self.segments.append(Segment(offset, path, path.stat().st_size))
        elif kind == "snapshot":
            self._snapshots.append(offset)

    @property
    def topic_id(self) -> bytes:
        return topic_id(self.folder / files.PARTITION_METADATA)

    @property
    def size_bytes(self) -> int:
        return sum(one.size_bytes for one in self.segments)

    @property
    def base_offset(self) -> int:
        """Of the active segment."""
        return self.segments[-1].base_offset

    def leader_epochs(self) -> list[tuple[int, int]]:
        return leader_epochs(self.folder / files.LEADER_EPOCHS)

    def batches(self) -> Iterator[tuple[Segment, RecordBatch]]:
        """All batches with records at or above the log start; raises FolderRefused.

        A batch may have records below it, as in Kafka.
        """
        last = self.segments[-1]
        next_offset = 0
        for at, segment in enumerate(self.segments):
            ends_before = self.segments[at + 1].base_offset if segment is not last else None
            size_bytes = 0
            try:
                for batch in batches(segment.path, max(segment.base_offset, next_offset)):
                    if ends_before is not None and batch.last_offset >= ends_before:
                        raise Damaged(segment.path, size_bytes, "offsets of the next segment")
                    size_bytes += batch.size_bytes
                    next_offset = batch.last_offset + 1
                    if batch.last_offset >= self.start_offset:
                        yield segment, batch
            except Damaged:
                if not self._cut_tail or segment is not last:
                    raise
                self.cut_bytes = segment.size_bytes - size_bytes

    def check_end(self, end_offset: int) -> None:
        """Raises FolderRefused if the log was longer when Kafka stopped."""
        newest = max(self._snapshots, default=0)
        if newest > end_offset and not self._cut_tail:
            raise FolderRefused(
                f"{self.folder} is cut off: it ends at offset {end_offset}, but has a snapshot of "
                f"its producers at offset {newest}"
            )

    def producers(self, end_offset: int) -> tuple[int, list[SnapshotEntry]]:
        """The newest snapshot up to an offset, and its offset; 0 and nothing: there is none."""
        offset = max((one for one in self._snapshots if one <= end_offset), default=None)
        if offset is None:
            return 0, []
        return offset, read_snapshot(self.folder / f"{offset:020}.snapshot")
