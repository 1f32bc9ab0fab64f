"""Move: the server copies entries of a tail that is mostly dead into the current one."""

from __future__ import annotations

from collections.abc import Callable

from psycopg.types.numeric import Int8

from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.runs import Span, spans
from infrastructure.storage.postgresql.sending import sent
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.statement import composed, plan_columns

#: At once, or one entry: the next commit waits for it.
MOVED_BYTES = 1 << 20
_MOST_ENTRIES = 1000

_SIZES = f"""
    select last_offset, size from ottla_tail_{{}}
    where partition_id = %s and last_offset >= %s and last_offset < %s
    order by last_offset limit {_MOST_ENTRIES}
"""


class Move:
    """Entries of one log; none, of a run that has none left."""

    def __init__(self, run: tuple[int, int], new_plan: Callable[[], Plan]) -> None:
        """`run`: a partition id and its first offset."""
        self._run = run
        self._new_plan = new_plan
        self.plan = new_plan()
        self.size_bytes = 0

    def execute(self, connection: Rows, fence: Fence) -> str | None:
        self.plan = plan = self._new_plan()
        partition_id, first_offset = self._run
        span = next(spans(plan.of(partition_id), first_offset))
        values = partition_id, span.first_offset, span.end_offset
        sizes = connection.execute(_SIZES.format(span.tail).encode(), values).fetchall()
        span = self._first_part(span, sizes)
        plan.move(partition_id, span.first_offset, span.end_offset)
        plan.dead[span.tail] = self.size_bytes
        range_ = [Int8(partition_id), Int8(span.first_offset), Int8(span.end_offset)]
        columns = {"moved": range_, **plan_columns(plan)}
        return sent(connection, *composed(columns, plan.tail, fence, span.tail))

    def _first_part(self, span: Span, sizes: list[tuple[int, int]]) -> Span:
        self.size_bytes = 0
        for at, (last_offset, size_bytes) in enumerate(sizes, 1):
            self.size_bytes += size_bytes
            if at == _MOST_ENTRIES or (self.size_bytes >= MOVED_BYTES and at < len(sizes)):
                return span._replace(end_offset=last_offset + 1)
        return span
