"""Asking: the statements of questions, executed for tails that are tables, and for objects.

Of an object the database has all but the batches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import psycopg

from infrastructure.storage.objects.errors import ObjectDamaged, ObjectMissing
from infrastructure.storage.postgresql.object_entries import check
from infrastructure.storage.postgresql.questions import (
    BATCHES,
    MOST_ENTRIES,
    WITHIN,
    Answer,
    Ask,
    PartDamaged,
    TailGone,
)
from infrastructure.storage.postgresql.runs import Runs, Span, tail_of
from infrastructure.storage.postgresql.server import reason_of
from infrastructure.storage.postgresql.tables import entries_of
from infrastructure.storage.postgresql.tails import Tails

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: Executes a statement with values. Raises psycopg.Error.
Execute = Callable[[str, Mapping[str, int]], Answer]

_PLACES = f"""
    select last_offset, position, size, crc, times from (
        select last_offset, position, size, crc, times,
            sum(size) over (order by last_offset) - size as before
        {WITHIN} order by last_offset limit {MOST_ENTRIES}) as found
    where before < %(value)s order by last_offset
"""


def asking(
    execute: Execute,
    runs: Runs,
    tails: Tails,
    bucket_of: Callable[[], Bucket],
    partition_id: int,
) -> Ask:
    """What it returns raises what these do, TailGone, ObjectDamaged and ObjectsFailed."""

    def ask(statement: str, span: Span, value: int) -> Answer:
        name = tails.object_of(span.tail)
        try:
            if name is not None and statement == BATCHES:
                answer = batches_of(execute, bucket_of, name, partition_id, span, value)
            else:
                answer = _rows(execute, statement, name, partition_id, span, value)
        except (psycopg.errors.UndefinedTable, ObjectMissing) as error:
            raise TailGone(reason_of(error)) from error
        # Entries of an object are gone without an error.
        if tail_of(runs.of(partition_id), span.first_offset) != span.tail:
            raise TailGone(f"entries have left tail {span.tail}")
        return answer

    return ask


def _rows(
    execute: Execute, statement: str, name: str | None, partition_id: int, span: Span, value: int
) -> Answer:
    values = {**span._asdict(), "partition_id": partition_id, "value": value}
    return execute(statement.format(tail=entries_of(span.tail, name)), values)


def batches_of(
    execute: Execute,
    bucket_of: Callable[[], Bucket],
    name: str,
    partition_id: int,
    span: Span,
    most_bytes: int,
) -> Answer:
    """Last offsets, batches and index of entries that are in an object, up to so many bytes.

    Raises what `execute` and `bucket_of` raise, PartDamaged and other ObjectDamaged, and
    ObjectsFailed.
    """
    places = _rows(execute, _PLACES, name, partition_id, span, most_bytes)
    if not places:
        return []
    bucket = bucket_of()
    # Those of one log follow each other.
    start = places[0][1]
    _, position, size_bytes, *_ = places[-1]
    data = bucket.read(name, start, position + size_bytes - start)
    found: Answer = []
    for last_offset, position, size_bytes, crc, times in places:
        batches = data[position - start : position - start + size_bytes]
        try:
            check(batches, crc, f"{bucket.address.shown}/{name}", position)
        except ObjectDamaged as error:
            raise PartDamaged(str(error), found) from error
        found.append((last_offset, batches, times))
    return found
