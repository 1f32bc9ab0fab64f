"""LogView: what the database says of one log that another broker leads, at one moment.

One statement reads it: where an offset is, how far the log is known to be stable, and which
transactions were aborted. All of it is committed, so nothing in it is above what the leader knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from domain.partitions.transactions import AbortedTransaction
from infrastructure.storage.postgresql.questions import Answer
from infrastructure.storage.postgresql.runs import ABOVE_ALL_OFFSETS, Span
from infrastructure.storage.repositories.partition_repository import (
    PARTITION_ID,
    PARTITIONS,
    SnapshotBounds,
    bounds_of,
)
from infrastructure.storage.repositories.partition_rows import KEY
from infrastructure.storage.repositories.transaction_index import ABORTED, aborted_of

_MOST_ABORTED = 1000
_RUN, _SNAPSHOT, _ABORTED = range(3)
_VIEW = f"""
    select {_RUN} as kind, r.first_offset, r.tail, t.object, null::bytea as place,
        null::bytea as value
    from (
        (select first_offset, tail from ottla_runs
         where partition_id = %(partition_id)s and first_offset <= %(offset)s
         order by first_offset desc limit 1)
        union all
        (select first_offset, tail from ottla_runs
         where partition_id = %(partition_id)s and first_offset > %(offset)s
         order by first_offset limit 1)
    ) r left join ottla_tails t on t.n = r.tail
    union all
    select {_SNAPSHOT}, 0, 0, null, place, value from ottla_rows
    where "table" = '{PARTITIONS}' and place = %(snapshot)s
    union all
    (select {_ABORTED}, 0, 0, null, place, value from ottla_rows
     where "table" = '{ABORTED}' and place >= %(first)s and place < %(last)s
     order by place limit {_MOST_ABORTED})
"""


class LogView(NamedTuple):
    snapshot: SnapshotBounds
    #: From the offset on, in one object.
    span: Span
    #: Of the object.
    name: str
    #: With markers from the offset on, by these,
    aborted: list[AbortedTransaction]
    #: all that have records below this offset.
    aborted_to: int

    @property
    def end_offset(self) -> int:
        """Up to here all is known of the records in the object."""
        return min(self.span.end_offset, self.snapshot.last_stable_offset, self.aborted_to)


def view_of(
    execute: Callable[[str, Mapping[str, int | bytes]], Answer], partition_id: int, offset: int
) -> LogView | None:
    """None: the offset is in no object, or not in the log. Raises what `execute` does."""
    values: dict[str, int | bytes] = {
        "partition_id": partition_id,
        "offset": offset,
        "snapshot": PARTITION_ID.pack(partition_id),
        "first": KEY.pack(partition_id, offset),
        "last": KEY.pack(partition_id + 1, 0),
    }
    runs: list[tuple[int, int, str | None]] = []
    snapshot = None
    aborted: list[AbortedTransaction] = []
    for kind, first_offset, tail, name, place, value in execute(_VIEW, values):
        if kind == _RUN:
            runs.append((first_offset, tail, name))
        elif kind == _SNAPSHOT:
            snapshot = bounds_of(value)
        else:
            aborted.append(aborted_of(KEY.unpack(place)[1], value))
    runs.sort()
    if snapshot is None or not runs or runs[0][0] > offset or offset < snapshot.start_offset:
        return None
    _, tail, name = runs[0]
    if name is None:
        return None
    end_offset = runs[1][0] if len(runs) > 1 else ABOVE_ALL_OFFSETS
    aborted.sort(key=lambda one: one.last_offset)
    # Later ones begin where the last one ends, or above.
    is_all = len(aborted) < _MOST_ABORTED
    aborted_to = ABOVE_ALL_OFFSETS if is_all else aborted[-1].last_stable_offset
    return LogView(snapshot, Span(tail, offset, end_offset), name, aborted, aborted_to)
