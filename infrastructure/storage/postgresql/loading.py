"""What is loaded at the start."""

from __future__ import annotations

from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.postgresql.arrays import bigints
from infrastructure.storage.postgresql.runs import Run, Runs, spans
from infrastructure.storage.postgresql.server import Rows

#: In order: each one goes behind all others.
_ROWS = """
    select "table", coalesce(key, place), value from ottla_rows order by "table", place
"""
_RUNS = """
    select partition_id, first_offset, tail from ottla_runs order by partition_id, first_offset
"""
_LAST = """
    select u.partition_id, found.last_offset
    from unnest(%b::bigint[], %b::bigint[], %b::bigint[])
        as u(partition_id, first_offset, end_offset),
    lateral (
        select last_offset from ottla_tail_{} e where e.partition_id = u.partition_id
        and e.last_offset >= u.first_offset and e.last_offset < u.end_offset
        order by last_offset desc limit 1) found
"""


def load_rows(connection: Rows, state: MemoryStateStore) -> None:
    with connection.cursor() as cursor:
        for table, key, value in cursor.stream(_ROWS, binary=True):
            state.put(table, key, value)


def load_runs(connection: Rows, runs: Runs) -> None:
    found: dict[int, list[Run]] = {}
    for partition_id, first_offset, tail in connection.execute(_RUNS):
        found.setdefault(partition_id, []).append(Run(first_offset, tail))
    for partition_id, several in found.items():
        runs.put(partition_id, tuple(several))


def load_ends(connection: Rows, runs: Runs) -> dict[int, int]:
    """Of each log that has entries: the offset after the last one."""
    ends: dict[int, int] = {}
    left = {one: list(spans(runs.of(one), 0)) for one in runs.partition_ids()}
    while left:
        by_tail: dict[int, list[tuple[int, int, int]]] = {}
        for partition_id, parts in left.items():
            tail, first_offset, end_offset = parts.pop()
            by_tail.setdefault(tail, []).append((partition_id, first_offset, end_offset))
        for tail, ranges in by_tail.items():
            columns = [bigints(one) for one in zip(*ranges, strict=True)]
            for partition_id, last_offset in connection.execute(
                _LAST.format(tail).encode(), columns, prepare=False
            ):
                ends[partition_id] = last_offset + 1
        # Compaction may have left nothing of the newest run.
        left = {one: parts for one, parts in left.items() if parts and one not in ends}
    return ends
