"""Where the entries of logs are, and where the logs end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from infrastructure.storage.postgresql.arrays import bigints
from infrastructure.storage.postgresql.runs import LogRuns, Run, spans
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.tables import entries_of
from infrastructure.storage.postgresql.tails import TailRow

_RUNS = "select partition_id, first_offset, tail from ottla_runs"
_IN_ORDER = "order by partition_id, first_offset"
_LAST = """
    select u.partition_id, found.last_offset
    from unnest(%b::bigint[], %b::bigint[], %b::bigint[])
        as u(partition_id, first_offset, end_offset),
    lateral (
        select last_offset from {} e where e.partition_id = u.partition_id
        and e.last_offset >= u.first_offset and e.last_offset < u.end_offset
        order by last_offset desc limit 1) found
"""


def all_runs(connection: Rows) -> dict[int, LogRuns]:
    """By partition id. Raises psycopg.Error, as the others."""
    return _by_partition(connection, f"{_RUNS} {_IN_ORDER}")


def runs_of(connection: Rows, partition_ids: Collection[int]) -> dict[int, LogRuns]:
    statement = f"{_RUNS} where partition_id = any(%s) {_IN_ORDER}"
    return _by_partition(connection, statement, (list(partition_ids),))


def _by_partition(
    connection: Rows, statement: str, values: Sequence[object] = ()
) -> dict[int, LogRuns]:
    found: dict[int, list[Run]] = {}
    for partition_id, first_offset, tail in connection.execute(statement.encode(), values):
        found.setdefault(partition_id, []).append(Run(first_offset, tail))
    return {partition_id: tuple(several) for partition_id, several in found.items()}


def ends_of(
    connection: Rows, runs: Mapping[int, LogRuns], tails: Iterable[TailRow]
) -> dict[int, int]:
    """Of each log that has entries: the offset after the last one. `tails`: those of the runs."""
    objects = {one.number: one.object for one in tails}
    ends: dict[int, int] = {}
    left = {one: list(spans(several, 0)) for one, several in runs.items()}
    while left:
        by_tail: dict[int, list[tuple[int, int, int]]] = {}
        for partition_id, parts in left.items():
            tail, first_offset, end_offset = parts.pop()
            by_tail.setdefault(tail, []).append((partition_id, first_offset, end_offset))
        for tail, ranges in by_tail.items():
            columns = [bigints(one) for one in zip(*ranges, strict=True)]
            for partition_id, last_offset in connection.execute(
                _LAST.format(entries_of(tail, objects.get(tail))).encode(), columns, prepare=False
            ):
                ends[partition_id] = last_offset + 1
        # Compaction may have left nothing of the newest run.
        left = {one: parts for one, parts in left.items() if parts and one not in ends}
    return ends
