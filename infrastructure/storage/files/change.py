"""Change: what a pass makes of one log: batches behind its end, segments that come and go."""

from __future__ import annotations

from collections.abc import Iterator

from application.ports.log_store import Buffer, LogName
from domain.messages.batch import EXTENT
from infrastructure.kafka_folder.index_entries import INDEX_ENTRY, MAX_INDEX_BYTES
from infrastructure.storage.files.log_files import LogFiles
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.rows import COMPLETE, Finished, LogRow, Rewrite
from infrastructure.storage.files.run import Run
from infrastructure.storage.files.segment import Segment
from infrastructure.storage.lmdb.entries import AlreadyThere

#: Positions and offsets in an index are of 4 bytes, as in Kafka.
_INT_MAX = (1 << 31) - 1


class Change:
    """Of one log in this pass."""

    __slots__ = (
        *("active", "appended", "dropped", "end_offset", "folder", "log", "made", "moved_from"),
        *("name", "removed", "runs", "segments", "swapped"),
    )

    def __init__(self, folder: LogFolder, log: LogFiles) -> None:
        self.folder = folder
        self.log = log
        #: After the commit.
        self.segments = list(log.segments)
        self.end_offset = log.row.end_offset
        self.name: LogName | None = log.row.name
        self.runs: list[Run] = []
        #: The run of the active segment.
        self.active: Run | None = None
        #: Segments whose files got batches, also of those that are dropped again.
        self.appended: list[Segment] = []
        #: Segments of this pass, which go if it fails, and those that go after the commit.
        self.made: list[Segment] = []
        self.removed: list[Segment] = []
        #: `.cleaned` files that are complete.
        self.swapped: list[Segment] = []
        self.dropped = False
        #: Of a folder that gets another name before the commit.
        self.moved_from: str | None = None

    @property
    def names_batches(self) -> bool:
        """A log that has batches already gets a name."""
        return self.name is not None and self.log.row.name is None and self.log.row.has_batches

    @property
    def all_segments(self) -> list[Segment]:
        return [*self.log.segments, *self.segments, *self.removed]

    def begin_run(self, segment: Segment) -> Run:
        run = Run(segment, self.folder.files)
        self.runs.append(run)
        self.appended.append(segment)
        return run

    def make(self, segment: Segment) -> Run:
        """Its file is in place of any that is there. Raises OSError."""
        self.folder.files.make(segment.path)
        self.made.append(segment)
        return self.begin_run(segment)

    # ---- appending

    def append(self, last_offset: int, batch: Buffer, begins_segment: bool) -> None:
        """Raises OSError or AlreadyThere."""
        if last_offset < self.end_offset and self.segments:
            raise AlreadyThere(
                f"partition {self.log.partition_id} has a batch at {last_offset} already"
            )
        run = self.active or self._continued()
        if run is None or (begins_segment and run.position) or _is_full(run, batch, last_offset):
            run = self._roll(int(EXTENT.unpack_from(batch)[0]))
        run.add(last_offset, batch)
        self.end_offset = last_offset + 1

    def _continued(self) -> Run | None:
        """The active segment of the log, unless compaction is rewriting it."""
        self.folder.check_writable()
        last = self.segments[-1] if self.segments else None
        if last is None or last.suffix or last.start:
            return None
        self.active = self.begin_run(last)
        return self.active

    def _roll(self, base_offset: int) -> Run:
        if base_offset < self.end_offset and self.segments:
            raise AlreadyThere(
                f"partition {self.log.partition_id} has a batch at {base_offset} already"
            )
        if not self.segments:
            self.folder.make_folder(self.log)
        segment = Segment(self.folder.files, self.log.folder, base_offset, 0)
        self.active = self.make(segment)
        self.segments.append(segment)
        return self.active

    # ---- removing

    def trim(self, offset: int, most: int) -> tuple[int, bool]:
        """Removes segments that end below an offset: their bytes, and whether none is left."""
        size_bytes = count = 0
        while self.segments:
            group = self._first_group()
            if any(run.segment in group for run in self.runs):
                return size_bytes, False
            if group[-1].known_end_offset() > offset:
                break
            if count == most:
                return size_bytes, False
            size_bytes += sum(one.size_bytes - one.start for one in group)
            self._remove(group)
            count += 1
        return size_bytes, True

    def drop(self, most: int) -> bool:
        for _ in range(most):
            if not self.segments:
                break
            group = self._first_group()
            self.runs = [run for run in self.runs if run.segment not in group]
            if self.active is not None and self.active.segment in group:
                self.active = None
            self._remove(group)
        self.dropped = not self.segments
        return self.dropped

    def _first_group(self) -> list[Segment]:
        """The parts of the first segment: two while compaction rewrites it."""
        first = self.segments[0].file_base
        return [one for one in self.segments[:2] if one.file_base == first]

    def _remove(self, group: list[Segment]) -> None:
        del self.segments[: len(group)]
        self.removed += group

    # ---- the commit

    def finished(self) -> Iterator[tuple[int, Finished | None]]:
        """Segments that get no more batches since this pass, and those that are not there."""
        is_same = len(self.segments) == len(self.log.segments)
        if is_same and not (self.made or self.removed or self.swapped):
            return
        before = _inactive(self.log.segments)
        after = _inactive(self.segments)
        for base in before.keys() - after.keys():
            yield base, None
        for base, segment in after.items():
            if base in before and segment not in self.swapped:
                continue
            run = next((one for one in self.runs if one.segment is segment), None)
            if run is not None and run.batches:
                yield base, Finished(run.position, run.batches[-1][1] + 1)
            else:
                yield base, Finished(segment.size_bytes, segment.known_end_offset())

    @property
    def only_appends(self) -> bool:
        """To the active segment: by far most passes."""
        return (
            self.active is not None
            and len(self.runs) == 1
            and not (self.made or self.removed or self.swapped)
            and self.name == self.log.row.name
        )

    def row(self) -> LogRow:
        if self.active is not None and self.only_appends:
            row = self.log.row
            return LogRow(*row[:2], self.active.position, self.end_offset, *row[4:])
        if not self.segments:
            return LogRow(self.end_offset, self.end_offset, 0, self.end_offset, (), self.name)
        sizes = {run.segment: run.position for run in self.runs}
        last = self.segments[-1]
        rewrites = []
        for at, one in enumerate(self.segments):
            if one.suffix:
                rest = self.segments[at + 1] if at + 1 < len(self.segments) else None
                if rest is None or not rest.start or rest.file_base != one.file_base:
                    place = (0, COMPLETE)
                else:
                    place = rest.base_offset, rest.start
                rewrites.append(Rewrite(one.file_base, sizes.get(one, one.size_bytes), *place))
        return LogRow(
            self.segments[0].file_base,
            last.file_base,
            sizes.get(last, last.size_bytes),
            self.end_offset,
            tuple(rewrites),
            self.name,
        )


def _inactive(segments: list[Segment]) -> dict[int, Segment]:
    """By base offset; of one that is rewritten the rest."""
    found = {one.file_base: one for one in segments}
    if segments:
        del found[segments[-1].file_base]
    return found


def _is_full(run: Run, batch: Buffer, last_offset: int) -> bool:
    segment = run.segment
    return (
        run.position + len(batch) > _INT_MAX
        or last_offset - segment.file_base > _INT_MAX
        or segment.index_bytes + INDEX_ENTRY.size * len(run.batches) + INDEX_ENTRY.size
        > MAX_INDEX_BYTES
    )
