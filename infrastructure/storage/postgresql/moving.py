"""Move: the server copies entries of a tail that is mostly dead into the current one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from infrastructure.storage.postgresql.arrays import BigintArray, bigints
from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.runs import Span, spans
from infrastructure.storage.postgresql.sending import sent
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.statement import composed, plan_columns, stray_columns

#: At once, or one entry: the next commit waits for it.
MOVED_BYTES = 1 << 20
_MOST_RUNS = 500
_MOST_ENTRIES = 1000

#: Of all entries: the place of their span, last offset and size.
_SIZES = f"""
    select u.place, e.last_offset, e.size
    from unnest(%b::bigint[], %b::bigint[], %b::bigint[]) with ordinality
        as u(partition_id, first_offset, end_offset, place),
    lateral (
        select last_offset, size from ottla_tail_{{}} t where t.partition_id = u.partition_id
        and t.last_offset >= u.first_offset and t.last_offset < u.end_offset
        order by t.last_offset limit {_MOST_ENTRIES}) e
    order by u.place, e.last_offset limit {_MOST_ENTRIES}
"""
_LogSpan = tuple[int, Span]


class Move:
    """Whole runs and a part of one; also runs that have no entry left."""

    def __init__(
        self, sparse: int, runs: Sequence[tuple[int, int]], new_plan: Callable[[], Plan]
    ) -> None:
        """`runs`: partition ids and first offsets."""
        self._sparse = sparse
        self._runs = runs[:_MOST_RUNS]
        self._new_plan = new_plan
        self.plan = new_plan()
        self.size_bytes = 0

    def execute(self, connection: Rows, fence: Fence) -> str | None:
        self.plan = plan = self._new_plan()
        parts = [
            (one, span)
            for one, first_offset in self._runs
            for span in islice(spans(plan.of(one), first_offset), 1)
            if span.tail == self._sparse
        ]
        statement = _SIZES.format(self._sparse).encode()
        sizes = connection.execute(statement, _ranges(parts), prepare=False).fetchall()
        parts, keys = self._first_of(parts, sizes)
        for partition_id, span in parts:
            plan.move(partition_id, span.first_offset, span.end_offset)
        plan.dead[self._sparse] = self.size_bytes
        columns = {
            "moved": [*_ranges(parts)],
            "strays": stray_columns(plan.new_ranges(), keys),
            **plan_columns(plan),
        }
        return sent(connection, *composed(columns, plan.tail, fence, self._sparse))

    def _first_of(
        self, parts: list[_LogSpan], sizes: Sequence[tuple[int, int, int]]
    ) -> tuple[list[_LogSpan], list[tuple[int, int]]]:
        """What is moved at once, and the keys of its entries."""
        self.size_bytes = 0
        keys: list[tuple[int, int]] = []
        for number, (place, last_offset, size_bytes) in enumerate(sizes, 1):
            partition_id, span = parts[place - 1]
            keys.append((partition_id, last_offset))
            self.size_bytes += size_bytes
            is_last = number == len(sizes) < _MOST_ENTRIES
            if not is_last and (self.size_bytes >= MOVED_BYTES or number == _MOST_ENTRIES):
                part = span._replace(end_offset=last_offset + 1)
                return [*parts[: place - 1], (partition_id, part)], keys
        return parts, keys


def _ranges(parts: Sequence[_LogSpan]) -> list[BigintArray]:
    return [
        bigints([partition_id for partition_id, _ in parts]),
        bigints([span.first_offset for _, span in parts]),
        bigints([span.end_offset for _, span in parts]),
    ]
