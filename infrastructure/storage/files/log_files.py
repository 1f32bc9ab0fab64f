"""LogFiles: the segments of one log, as committed."""

from __future__ import annotations

from bisect import bisect_right

from application.ports.log_store import Buffer, NotInMemory
from infrastructure.storage.files.headers import MOST_OFFSETS, Damaged, whole_batches
from infrastructure.storage.files.rows import LogRow
from infrastructure.storage.files.segment import Segment

#: Where readers come back: the offset after what they have read.
_PLACES = 64
#: The index saves more than it costs from here on.
_SMALL_READ_BYTES = 64 << 10


class LogFiles:
    __slots__ = ("_bases", "_places", "changed_at", "folder", "partition_id", "row", "segments")

    def __init__(
        self, partition_id: int, folder: str, row: LogRow, segments: list[Segment]
    ) -> None:
        self.partition_id = partition_id
        self.folder = folder
        self.row = row
        self.segments: list[Segment] = []
        #: By offset: number of a segment, position in it.
        self._places: dict[int, tuple[int, int]] = {}
        #: Of its folder, in ns, when it was listed beside a broker.
        self.changed_at = -1
        self.change(segments)

    def change(self, segments: list[Segment]) -> None:
        if segments[: len(self.segments)] != self.segments:
            self._places.clear()
        #: In order; one that compaction rewrites is two: `.cleaned`, and the rest of its file.
        self.segments = segments
        self._bases = [one.base_offset for one in segments]

    def begins_like(self, before: LogFiles) -> bool:
        """Whether the segments that got no more batches then are the same files now."""
        facts = [
            [(one.file_base, one.suffix, one.start, one.size_bytes) for one in log.segments]
            for log in (before, self)
        ]
        return facts[0][:-1] == facts[1][: max(0, len(facts[0]) - 1)]

    # ---- reading: OSError, or NotInMemory

    def _locate(self, offset: int) -> tuple[int, int] | None:
        """Segment and position of the batch that holds the offset, or of the first after it."""
        place = self._places.get(offset)
        if place is not None and place[1] < self.segments[place[0]].size_bytes:
            return place
        if offset >= self.row.end_offset:
            return None
        number = max(0, bisect_right(self._bases, offset) - 1)
        while number < len(self.segments):
            segment = self.segments[number]
            position = segment.position_of(offset)
            if position < segment.size_bytes:
                return number, position
            number += 1
        return None

    def _remember(self, offset: int, number: int, position: int) -> None:
        places = self._places
        if len(places) >= _PLACES:
            del places[next(iter(places))]
        places[offset] = number, position

    def read_to(
        self, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> tuple[Buffer, int]:
        pieces: list[Buffer] = []
        reached = offset
        try:
            while reached < end_offset and (max_bytes > 0 or (whole_first and not pieces)):
                place = self._locate(reached)
                if place is None:
                    break
                number, position = place
                segment, stop = self.segments[number], self._stop(number, end_offset)
                data, next_offset = self._read_at_once(segment, position, stop, max_bytes, reached)
                if not data:
                    data, next_offset = self._read_whole(
                        segment, position, stop, max_bytes, whole_first and not pieces
                    )
                if not data:
                    break
                if not reached < next_offset <= end_offset:
                    raise Damaged(f"{segment.path} has wrong offsets behind byte {position}")
                pieces.append(data)
                reached, max_bytes, end = next_offset, max_bytes - len(data), position + len(data)
                if end < segment.size_bytes or number + 1 == len(self.segments):
                    self._remember(reached, number, end)
                    break
        except NotInMemory:
            if not pieces:
                raise
        return pieces[0] if len(pieces) == 1 else b"".join(pieces), reached

    def _stop(self, number: int, end_offset: int) -> int:
        """Up to where batches of a segment end below an offset."""
        segment = self.segments[number]
        is_last = number + 1 == len(self.segments)
        after = self.row.end_offset if is_last else self._bases[number + 1]
        return segment.size_bytes if end_offset >= after else segment.position_of(end_offset)

    def _read_at_once(
        self, segment: Segment, position: int, stop: int, max_bytes: int, offset: int
    ) -> tuple[Buffer, int]:
        """Of a small read: the batches that fit, without a look at the index; none if none does."""
        size_bytes = min(stop - position, max_bytes)
        if not 0 < size_bytes <= _SMALL_READ_BYTES:
            return b"", -1
        data = segment.read(position, size_bytes)
        end, next_offset = whole_batches(data, offset - 1, segment.file_base + MOST_OFFSETS)
        return (data if end == size_bytes else data[:end]), next_offset

    def _read_whole(
        self, segment: Segment, position: int, stop: int, max_bytes: int, whole_first: bool
    ) -> tuple[Buffer, int]:
        """The batches that fit; with `whole_first` the first one also if it does not."""
        if stop <= position:
            return b"", -1
        if stop == segment.size_bytes and stop - position <= max_bytes:
            end, next_offset = stop, segment.known_end_offset()
        else:
            end, next_offset = segment.last_end(position, min(stop, position + max_bytes))
            if end == position and whole_first:
                first = next(segment.walk(position, segment.size_bytes))
                if first.end <= stop:
                    end, next_offset = first.end, first.last_offset + 1
        return segment.view(position, end - position) if end > position else b"", next_offset

    def headers(self, offset: int, limit: int) -> list[bytes]:
        headers: list[bytes] = []
        try:
            place = self._locate(offset)
            while place is not None and len(headers) < limit:
                number, position = place
                segment = self.segments[number]
                for header in segment.walk(position, segment.size_bytes):
                    headers.append(header.data)
                    if len(headers) == limit:
                        break
                number += 1
                more = number < len(self.segments)
                place = (number, self.segments[number].start) if more else None
        except NotInMemory:
            if not headers:
                raise
        return headers

    def last_offset(self) -> int:
        """Of the newest batch; -1: there is none."""
        for segment in reversed(self.segments):
            if segment.size_bytes > segment.start:
                return segment.known_end_offset() - 1
        return -1
