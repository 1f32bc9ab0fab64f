"""Seal: entries of full tails are in an object from now on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import attrgetter

from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.object_entries import NewObject
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.runs import Span
from infrastructure.storage.postgresql.sending import sent
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.statement import composed, object_columns, plan_columns


class Seal:
    """What has changed since the object was written stays where it is.

    All of it if partitions went to other brokers since, and may be back: in a current tail of its
    own another broker replaces entries, and the runs stay as they were.
    """

    def __init__(
        self, new: NewObject, new_plan: Callable[[int], Plan], losses: Callable[[], int]
    ) -> None:
        self._new = new
        self._new_plan = new_plan
        self._losses = losses
        self.plan = new_plan(new.number)
        self.dead_bytes = 0

    def execute(self, connection: Rows, fence: Fence) -> str | None:
        new = self._new
        self.plan = plan = self._new_plan(new.number)
        self.dead_bytes = 0
        for partition_id, parts in groupby(new.parts, attrgetter("partition_id")):
            moved: list[Span] = []
            for _, span, size_bytes in parts:
                left = plan.left_of(partition_id, span)
                # After the runs: a partition that is back is lost before.
                if left is None or self._losses() != new.losses:
                    self.dead_bytes += size_bytes
                    continue
                plan.dead[span.tail] += size_bytes
                if moved and moved[-1].end_offset == left.first_offset:
                    moved[-1] = moved[-1]._replace(end_offset=left.end_offset)
                else:
                    moved.append(left)
            for one in moved:
                plan.move(partition_id, one.first_offset, one.end_offset)
        columns = {**object_columns(new, self.dead_bytes), **plan_columns(plan)}
        return sent(connection, *composed(columns, new.number, fence))
