"""Small objects, as commits write them: read at once, to be put into a larger one.

Each has entries of many logs: read by ranges it would take a request for each. Only as many are
read as one object takes wholly, so that each is read once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from infrastructure.storage.objects.errors import ObjectDamaged, ObjectMissing
from infrastructure.storage.postgresql.object_entries import check
from infrastructure.storage.postgresql.questions import Answer, Ask, TailGone
from infrastructure.storage.postgresql.runs import Span
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.tails import TailRow

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: Of requests to the bucket.
_AT_ONCE = 8

_ENTRIES = """
    select partition_id, last_offset, position, size, crc, coalesce(times, '')
    from ottla_object_entries where tail = %s order by last_offset
"""


class _Place(NamedTuple):
    last_offset: int
    position: int
    size_bytes: int
    crc: int
    times: bytes


class SmallObjects:
    def __init__(
        self, connection: Rows, bucket: Bucket, tails: Mapping[int, TailRow], most_entries: int
    ) -> None:
        """By number. Those that are read have so many entries together, or it is one that has
        many more: it is taken apart.

        Raises psycopg.Error or ObjectsFailed.
        """
        self._names = {number: one.object or "" for number, one in tails.items()}
        self._places: dict[tuple[int, int], list[_Place]] = defaultdict(list)
        #: The first one, if it has as many entries as an object should have: nothing is read.
        self.is_full = False
        self.numbers = self._chosen(connection, tails, most_entries)
        self.size_bytes = sum(tails[number].written_bytes for number in self.numbers)

        def read(number: int) -> bytes | None:
            try:
                return bucket.read(self._names[number], 0, tails[number].written_bytes)
            except (ObjectMissing, ObjectDamaged):
                return None

        count = sum(map(len, self._places.values()))
        if len(self.numbers) == 1 < len(tails) and count < 2 * most_entries:
            self.is_full = True
            return
        with ThreadPoolExecutor(_AT_ONCE, "ottla-small-objects") as threads:
            self._data = dict(zip(self.numbers, threads.map(read, self.numbers), strict=True))

    def _chosen(self, connection: Rows, tails: Iterable[int], most_entries: int) -> tuple[int, ...]:
        chosen: list[int] = []
        for tail in tails:
            rows = connection.execute(_ENTRIES, (tail,), prepare=False, binary=True).fetchall()
            most_entries -= len(rows)
            if chosen and most_entries < 0:
                break
            chosen.append(tail)
            for partition_id, *place in rows:
                self._places[tail, partition_id].append(_Place(*place))
        return tuple(chosen)

    def asking(self, partition_id: int) -> Ask:
        """Only for their batches. What it returns raises TailGone and ObjectDamaged."""

        def ask(_: str, span: Span, most_bytes: int) -> Answer:
            found: Answer = []
            for place in self._places[span.tail, partition_id]:
                if most_bytes <= 0:
                    break
                if span.first_offset <= place.last_offset < span.end_offset:
                    found.append((place.last_offset, self._batches(span.tail, place), place.times))
                    most_bytes -= place.size_bytes
            return found

        return ask

    def _batches(self, tail: int, place: _Place) -> bytes:
        data = self._data[tail]
        if data is None:
            raise TailGone(f"{self._names[tail]} is missing, or too short")
        batches = data[place.position : place.position + place.size_bytes]
        check(batches, place.crc, self._names[tail], place.position)
        return batches
