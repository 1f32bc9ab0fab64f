"""Seal: entries of full tails are in an object from now on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from psycopg.types.numeric import Int8

from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.object_entries import ObjectEntry, columns_of
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.runs import Span
from infrastructure.storage.postgresql.sending import sent
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.statement import SEALED, composed, plan_columns
from infrastructure.storage.postgresql.tails import TailRow


class Part(NamedTuple):
    """Of one log."""

    partition_id: int
    span: Span
    size_bytes: int


class NewObject(NamedTuple):
    """An object that was written, and that no run refers to yet."""

    number: int
    name: str
    size_bytes: int
    parts: Sequence[Part]
    entries: Sequence[ObjectEntry]


class Seal:
    """What has changed since the object was written stays where it is."""

    def __init__(self, new: NewObject, new_plan: Callable[[int], Plan]) -> None:
        self._new = new
        self._new_plan = new_plan
        self.plan = new_plan(new.number)
        self.dead_bytes = 0

    @property
    def row(self) -> TailRow:
        """Of the object."""
        new = self._new
        return TailRow(new.number, new.size_bytes, self.dead_bytes, new.name)

    def execute(self, connection: Rows, fence: Fence) -> str | None:
        new = self._new
        self.plan = plan = self._new_plan(new.number)
        self.dead_bytes = 0
        for partition_id, span, size_bytes in new.parts:
            left = plan.left_of(partition_id, span)
            if left is not None:
                plan.move(partition_id, left.first_offset, left.end_offset)
                plan.dead[span.tail] += size_bytes
            else:
                self.dead_bytes += size_bytes
        columns = {
            SEALED: [Int8(new.size_bytes), Int8(self.dead_bytes), Int8(new.number), new.name],
            "in_object": columns_of(new.entries),
            **plan_columns(plan),
        }
        return sent(connection, *composed(columns, new.number, fence))
