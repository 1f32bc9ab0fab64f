"""Questions about the entries of a log. Each statement asks one tail for entries of one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import psycopg

from domain.messages.batch import HEADER_BYTES
from infrastructure.storage.objects.errors import ObjectDamaged, ObjectsFailed
from infrastructure.storage.postgresql.entries import TIME
from infrastructure.storage.postgresql.runs import LogRuns, Span, spans

Answer = list[tuple[Any, ...]]
#: Executes a statement about a span of the log, with one more value.
Ask = Callable[[str, Span, int], Answer]
#: Answers a question with values.
Kind = Callable[[Ask, LogRuns, tuple[int, ...]], Answer]


class TailGone(Exception):
    """The entries of a run were trimmed or moved meanwhile: the new runs say where they are."""


class PartDamaged(ObjectDamaged):
    """Of one log. `intact`: the answer as far as it can be read."""

    def __init__(self, why: str, intact: Answer) -> None:
        super().__init__(why)
        self.intact = intact


#: One tail cannot be read; others may be. The last two: a page, or an index, is damaged.
UNREADABLE = (
    TailGone,
    ObjectDamaged,
    psycopg.errors.DataCorrupted,
    psycopg.errors.IndexCorrupted,
)

#: Entries in one answer.
MOST_ENTRIES = 1000
#: In one answer with batches.
_MOST_SPANS = 16

WITHIN = (
    "from {tail} as e where partition_id = %(partition_id)s"
    " and last_offset >= %(first_offset)s and last_offset < %(end_offset)s"
)
BATCHES = f"""
    select last_offset, data, times from (
        select last_offset, data, times, sum(size) over (order by last_offset) - size as before
        {WITHIN} order by last_offset limit {MOST_ENTRIES}) as found
    where before < %(value)s order by last_offset
"""
_HEADERS = f"""
    select headers from (
        select last_offset, headers,
            sum(octet_length(headers)) over (order by last_offset) - octet_length(headers) as before
        {WITHIN} order by last_offset limit %(value)s) as found
    where before < {HEADER_BYTES} * %(value)s::bigint order by last_offset
"""
_OLDEST = f"select last_offset, size {WITHIN} order by last_offset limit %(value)s"
#: The newest entry with smaller timestamps only, and the oldest with others.
_AROUND_TIMESTAMP = f"""
    (select times {WITHIN} and timestamp < %(value)s
     order by timestamp desc, last_offset desc limit 1)
    union all
    (select times {WITHIN} and timestamp >= %(value)s order by timestamp, last_offset limit 1)
"""
_LAST_OFFSET = f"select last_offset {WITHIN} order by last_offset desc limit 1"
_FIRST_TIMES = f"select times {WITHIN} and timestamp is not null order by last_offset limit 1"
_LAST_TIMES = f"select times {WITHIN} and timestamp is not null order by last_offset desc limit 1"


def batches(ask: Ask, runs: LogRuns, values: tuple[int, ...]) -> Answer:
    """Last offsets, batches and index of entries between two offsets, up to a number of bytes.

    Of many small objects it is less: a reader waits for them.
    """
    offset, end_offset, most_bytes = values
    found: Answer = []
    for number, span in enumerate(spans(runs, offset, end_offset), 1):
        try:
            part = ask(BATCHES, span, most_bytes)
        except (*UNREADABLE, ObjectsFailed) as error:
            if isinstance(error, PartDamaged):
                found += error.intact
            if not found:
                raise
            break  # what was found is true; the next question gets the error
        found += part
        most_bytes -= sum(len(data) for _, data, _ in part)
        if most_bytes <= 0 or len(found) >= MOST_ENTRIES or (found and number >= _MOST_SPANS):
            break
    return found


def headers(ask: Ask, runs: LogRuns, values: tuple[int, ...]) -> Answer:
    """Of entries from an offset on, until it is so many."""
    offset, limit = values
    found: Answer = []
    for span in spans(runs, offset):
        part = ask(_HEADERS, span, limit)
        found += part
        limit -= sum(len(several) for (several,) in part) // HEADER_BYTES
        if limit <= 0:
            break
    return found


def oldest(ask: Ask, runs: LogRuns, values: tuple[int, ...]) -> Answer:
    """Last offsets and sizes of so many entries between two offsets."""
    offset, end_offset, limit = values
    found: Answer = []
    for span in spans(runs, offset, end_offset):
        found += ask(_OLDEST, span, limit - len(found))
        if len(found) == limit:
            break
    return found


def around_timestamp(ask: Ask, runs: LogRuns, values: tuple[int, ...]) -> Answer:
    """The index of the entries where larger timestamps begin. Timestamps ascend with offsets."""
    [timestamp] = values
    parts = list(spans(runs, 0))
    # The last run that begins with a smaller one; else the first run.
    found, low, high = 0, 1, len(parts)
    while low < high:
        middle = at = (low + high) // 2
        while not (first := ask(_FIRST_TIMES, parts[at], 0)) and at + 1 < high:
            at += 1  # it has no timestamps
        if first and TIME.unpack_from(first[0][0])[0] < timestamp:
            found, low = at, at + 1
        else:
            high = middle
    return ask(_AROUND_TIMESTAMP, parts[found], timestamp) if parts else []


def surroundings(ask: Ask, runs: LogRuns, values: tuple[int, ...]) -> Answer:
    """Of entries: the last offset of the one before, and the nearest index before and behind."""
    first, last = values
    before = list(spans(runs, 0, first))[::-1]
    return [
        (
            _first_of(ask, _LAST_OFFSET, before),
            _first_of(ask, _LAST_TIMES, before) or b"",
            _first_of(ask, _FIRST_TIMES, spans(runs, last + 1)) or b"",
        )
    ]


def _first_of(ask: Ask, statement: str, parts: Iterable[Span]) -> Any:
    for part in parts:
        if found := ask(statement, part, 0):
            return found[0][0]
    return None
