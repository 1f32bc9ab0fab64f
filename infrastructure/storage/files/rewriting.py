"""Rewriting: compaction replaces batches of a segment, as in Kafka.

What stays, and what replaces other batches, is appended to `.cleaned` from the beginning of the
segment on. Readers go on there, and behind it in the segment itself, until `.cleaned` has all of
it: then it takes the place of the segment.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.ports.log_store import Buffer
from domain.messages.batch import EXTENT
from infrastructure.storage.files.change import Change
from infrastructure.storage.files.headers import Header
from infrastructure.storage.files.run import Run
from infrastructure.storage.files.segment import CLEANED, Segment

#: Copied in one step.
COPIED_AT_ONCE_BYTES = 4 << 20
_PIECE_BYTES = 1 << 20


class Rewriting:
    __slots__ = ("_change", "_folder")

    def __init__(self, change: Change) -> None:
        self._change = change
        self._folder = change.folder

    def copy_before(self, offset: int) -> bool:
        """A step towards a rewrite at an offset; True: nothing is left to copy."""
        for at, rest in enumerate(self._change.segments):
            if not rest.start:
                continue
            after = self._end_of_file(at)
            if rest.base_offset <= offset < after:
                stop = rest.position_of(offset)
            else:
                stop = rest.size_bytes
            if stop - rest.start > COPIED_AT_ONCE_BYTES or stop == rest.size_bytes:
                self._copy_step(at, stop)
                return False
        place = self._place_of(offset)
        plain = None if place is None else self._change.segments[place]
        if place is None or plain is None or plain.suffix or plain.start:
            return True
        stop = plain.position_of(offset)
        if COPIED_AT_ONCE_BYTES < stop < plain.size_bytes:
            self._begin_rewrite(place)
            self._copy_step(place + 1, stop)
            return False
        return True

    def _copy_step(self, at: int, stop: int) -> None:
        rest = self._change.segments[at]
        end = min(stop, rest.start + COPIED_AT_ONCE_BYTES)
        if end < stop:
            end, _ = rest.last_end(rest.start, end)
            if end == rest.start:
                end = next(rest.walk(rest.start, rest.size_bytes)).end
        self._copy(at, end)

    def replace(self, first: int, last: int, batches: Sequence[Buffer]) -> int:
        """Returns by how many bytes the log grows; raises OSError."""
        grown, left = 0, list(batches)
        at = self._place_of(first)
        while at is not None and at < len(self._change.segments):
            after = self._end_of_file(at)
            mine = [one for one in left if EXTENT.unpack_from(one)[0] < after]
            left = left[len(mine) :]
            at, more = self._rewrite(at, first, min(last, after - 1), mine)
            grown += more
            first = after
            if first > last:
                break
        return grown

    def _place_of(self, offset: int) -> int | None:
        """The last segment that begins at or below an offset."""
        found = None
        for at, segment in enumerate(self._change.segments):
            if found is None or segment.base_offset <= offset:
                found = at
        return found

    def _end_of_file(self, at: int) -> int:
        """Where the segment after the one at this place begins."""
        base = self._change.segments[at].file_base
        for segment in self._change.segments[at + 1 :]:
            if segment.file_base != base:
                return segment.base_offset
        return 1 << 63

    def _rewrite(self, at: int, first: int, last: int, batches: list[Buffer]) -> tuple[int, int]:
        """Of one file; returns the place of the next one."""
        segment = self._change.segments[at]
        if segment.suffix:
            raise OSError(f"{segment.path} is not complete yet")
        if segment.position_of(first) == segment.position_of(last + 1):
            return at + 1, 0
        if not segment.start:
            self._begin_rewrite(at)
            at += 1
        self._copy(at, self._change.segments[at].position_of(first))
        rest = self._change.segments[at]
        run = self._run_of(self._change.segments[at - 1])
        for batch in batches:
            base_offset, _, delta = EXTENT.unpack_from(batch)
            run.add(base_offset + delta, batch)
        end = rest.position_of(last + 1)
        grown = sum(map(len, batches)) - (end - rest.start)
        return self._pass_over(at, end, last + 1), grown

    def _begin_rewrite(self, at: int) -> None:
        self._folder.check_writable()
        segment = self._change.segments[at]
        if self._change.active is not None and self._change.active.segment is segment:
            raise OSError(f"{segment.path} gets batches in the same pass")
        if segment.file_base in self._folder.unswapped(self._change.log):
            raise OSError(f"{segment.path}{CLEANED} is not in its place yet")
        folder = self._folder
        folder.before_rewrite(self._change.log.partition_id, segment.file_base)
        cleaned = Segment(folder.files, segment.folder, segment.file_base, 0, CLEANED)
        self._change.make(cleaned)
        rest = self._rest_of(segment, segment.base_offset, 0)
        self._change.segments[at : at + 1] = [cleaned, rest]

    def _rest_of(self, segment: Segment, base_offset: int, start: int) -> Segment:
        rest = Segment(
            self._folder.files,
            segment.folder,
            segment.file_base,
            segment.size_bytes,
            "",
            base_offset,
            start,
        )
        rest.end_offset = segment.end_offset
        return rest

    def _run_of(self, segment: Segment) -> Run:
        for run in self._change.runs:
            if run.segment is segment:
                return run
        return self._change.begin_run(segment)

    def _copy(self, at: int, stop: int) -> None:
        """Appends batches of the file as they are to `.cleaned`."""
        rest = self._change.segments[at]
        run = self._run_of(self._change.segments[at - 1])
        headers: list[Header] = []
        first = rest.start
        for header in rest.walk(first, rest.size_bytes):
            if headers and (header.end - first > _PIECE_BYTES or header.position >= stop):
                run.copy(rest.read(first, header.position - first), headers)
                first, headers = header.position, []
            if header.position >= stop:
                break
            headers.append(header)
        if headers:
            run.copy(rest.read(first, headers[-1].end - first), headers)
        if stop > rest.start:
            self._pass_over(at, stop, run.batches[-1][1] + 1)

    def _pass_over(self, at: int, stop: int, next_offset: int) -> int:
        """The rest of a file begins at `stop`; returns the place after it."""
        rest, cleaned = self._change.segments[at], self._change.segments[at - 1]
        if stop < rest.size_bytes:
            self._change.segments[at] = self._rest_of(rest, next_offset, stop)
            return at + 1
        run = self._run_of(cleaned)
        if run.position:
            del self._change.segments[at]
            self._change.swapped.append(cleaned)
            return at
        self._change.runs.remove(run)
        self._change.removed += [cleaned, rest]
        del self._change.segments[at - 1 : at + 1]
        return at - 1
