"""Asking: the statements of questions, executed for tails that are tables, and for objects.

Of an object the database knows the pieces; only for batches, and for their headers, is the object
itself read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from domain.messages.batch import HEADER_BYTES
from infrastructure.codecs.checksum import crc32c
from infrastructure.storage.lmdb.entries import batches_of
from infrastructure.storage.objects.errors import ObjectDamaged
from infrastructure.storage.postgresql.questions import (
    BATCHES,
    HEADERS,
    MOST_ENTRIES,
    WITHIN,
    Answer,
    Ask,
)
from infrastructure.storage.postgresql.runs import Span
from infrastructure.storage.postgresql.tables import entries_of
from infrastructure.storage.postgresql.tails import Tails

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: Executes a statement with values. Raises psycopg.Error.
Execute = Callable[[str, Mapping[str, int]], Answer]

#: Read for headers at once.
_HEADERS_BYTES = 1 << 20
_PIECES = f"""
    select last_offset, position, size, crc, times from (
        select last_offset, position, size, crc, times,
            sum(size) over (order by last_offset) - size as before
        {WITHIN} order by last_offset limit {MOST_ENTRIES}) as found
    where before < %(value)s order by last_offset
"""


def asking(
    execute: Execute, tails: Tails, bucket_of: Callable[[], Bucket], partition_id: int
) -> Ask:
    """What it returns raises what these do, ObjectDamaged and ObjectsFailed."""

    def ask(statement: str, span: Span, value: int) -> Answer:
        name = tails.object_of(span.tail)
        if name is not None and statement == BATCHES:
            return batches(name, span, value)
        if name is not None and statement == HEADERS:
            return headers(name, span, value)
        return ask_tables(statement, name, span, value)

    def ask_tables(statement: str, name: str | None, span: Span, value: int) -> Answer:
        values = {**span._asdict(), "partition_id": partition_id, "value": value}
        return execute(statement.format(tail=entries_of(span.tail, name)), values)

    def batches(name: str, span: Span, most_bytes: int) -> Answer:
        pieces = ask_tables(_PIECES, name, span, most_bytes)
        if not pieces:
            return []
        bucket = bucket_of()
        # Those of one log follow each other.
        start = pieces[0][1]
        _, position, size_bytes, *_ = pieces[-1]
        data = bucket.read(name, start, position + size_bytes - start)
        found: Answer = []
        for last_offset, position, size_bytes, crc, times in pieces:
            piece = data[position - start : position - start + size_bytes]
            if crc32c(piece) != crc:
                raise ObjectDamaged(f"{bucket.address.shown}/{name} is damaged at byte {position}")
            found.append((last_offset, piece, times))
        return found

    def headers(name: str, span: Span, limit: int) -> Answer:
        found: Answer = []
        while limit > 0 and (part := batches(name, span, _HEADERS_BYTES)):
            for last_offset, data, _ in part:
                view = memoryview(data)
                several = [data[at : at + HEADER_BYTES] for at, _, _ in batches_of(view)]
                found.append((b"".join(several),))
                limit -= len(several)
                span = span._replace(first_offset=last_offset + 1)
        return found

    return ask
