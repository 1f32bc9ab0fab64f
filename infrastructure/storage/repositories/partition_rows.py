"""Rows of a partition, each with a number, that are too many to be read at once."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from application.ports.state_store import StateStore

#: Partition id, number.
KEY = Struct(">IQ")


def rows_from(
    state: StateStore, table: str, partition_id: int, number: int, rows_at_once: int
) -> Iterator[tuple[int, bytes]]:
    """The rows of the partition by their numbers, from `number` on."""
    first = KEY.pack(partition_id, number)
    while True:
        rows = state.scan(table, first, rows_at_once)
        for key, row in rows:
            found_id, found = KEY.unpack(key)
            if found_id != partition_id:
                return
            yield found, row
        if len(rows) < rows_at_once:
            return
        first = rows[-1][0] + b"\0"
