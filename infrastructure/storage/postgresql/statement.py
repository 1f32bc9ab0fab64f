"""The statement of a commit: all changes of a pass.

    update of ottla_store    only by the broker whose session it has, and after its last commit
    new entries              into the current tail, one for each partition, up to a megabyte each
    replaced entries         of compaction: there, too, under the keys of entries that are there, or
                             new ones; and the first entries of a log
    removed entries          of the current tail
    runs put, runs removed, bytes that are not needed any more, by tail
    rows put, rows deleted

It takes one round trip, and happens as a whole or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from psycopg.types.numeric import Int8

from application.ports.log_store import NOT_INDEXED
from infrastructure.storage.postgresql.arrays import bigints, byteas, texts
from infrastructure.storage.postgresql.entries import TIME, Entry
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.tables import ENTRY_COLUMNS, LONGEST_KEY

_FENCE = "fence as (update ottla_store set seq = %b where session = %b and seq = %b returning 1)"
_OR_REPLACE = (
    "on conflict (partition_id, last_offset) do update set size = excluded.size,"
    " timestamp = excluded.timestamp, times = excluded.times, headers = excluded.headers,"
    " data = excluded.data"
)
_ENTRY = (
    f"insert into {{tail}} ({ENTRY_COLUMNS}) select u.partition_id, u.last_offset, u.size,"
    " nullif(u.timestamp, -1), nullif(u.times, ''), u.headers, u.data from unnest("
    "%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bytea[], %b::bytea[],"
    f" %b::bytea[]) as u({ENTRY_COLUMNS}), fence"
)
_PARTS = {
    "added": _ENTRY,
    "replaced": f"{_ENTRY} {_OR_REPLACE}",
    "moved": f"insert into {{tail}} ({ENTRY_COLUMNS}) select e.* from {{old}} e, fence,"
    " unnest(%b::bigint[], %b::bigint[], %b::bigint[])"
    " as u(partition_id, first_offset, end_offset)"
    " where e.partition_id = u.partition_id and e.last_offset >= u.first_offset"
    f" and e.last_offset < u.end_offset {_OR_REPLACE}",
    "removed": "delete from {tail} e using fence, unnest(%b::bigint[], %b::bigint[])"
    " as u(partition_id, last_offset)"
    " where e.partition_id = u.partition_id and e.last_offset = u.last_offset",
    # Of an earlier life of the log: a run would cover them.
    "strays": "delete from {tail} e using fence, unnest(%b::bigint[], %b::bigint[])"
    " as u(partition_id, first_offset)"
    " where e.partition_id = u.partition_id and e.last_offset >= u.first_offset"
    " and not exists (select from unnest(%b::bigint[], %b::bigint[])"
    " as n(partition_id, last_offset)"
    " where n.partition_id = e.partition_id and n.last_offset = e.last_offset)",
    "runs_put": "insert into ottla_runs (partition_id, first_offset, tail) select u.* from"
    " unnest(%b::bigint[], %b::bigint[], %b::bigint[]) as u, fence"
    " on conflict (partition_id, first_offset) do update set tail = excluded.tail",
    "runs_removed": "delete from ottla_runs r using fence, unnest(%b::bigint[], %b::bigint[])"
    " as u(partition_id, first_offset)"
    " where r.partition_id = u.partition_id and r.first_offset = u.first_offset",
    "dead": "update ottla_tails t set dead = t.dead + u.dead from fence,"
    " unnest(%b::bigint[], %b::bigint[]) as u(n, dead) where t.n = u.n",
    "put": 'insert into ottla_rows ("table", place, key, value)'
    " select u.\"table\", u.place, nullif(u.key, ''), u.value from"
    " unnest(%b::text[], %b::bytea[], %b::bytea[], %b::bytea[])"
    ' as u("table", place, key, value), fence'
    ' on conflict ("table", place) do update set value = excluded.value',
    "deleted": "delete from ottla_rows r using fence, unnest(%b::text[], %b::bytea[])"
    ' as u("table", place) where r."table" = u."table" and r.place = u.place',
}

Columns = dict[str, list[Any]]
Entries = list[Entry]


def fence(session: int, seq: int) -> list[Any]:
    return [Int8(seq), Int8(session), Int8(seq - 1)]


def statement_of(staged: Staged, plan: Plan, session: int, seq: int) -> tuple[str, list[Any]]:
    """Its last row says 1 if it was persisted; 0: the session is over, and nothing was."""
    added, first = staged.added, Entries()
    if plan.begun:
        added = [one for one in staged.added if one.partition_id not in plan.begun]
        first = [one for one in staged.added if one.partition_id in plan.begun]
    put = [(key, value) for key, value in staged.rows.items() if value is not None]
    deleted = [key for key, value in staged.rows.items() if value is None]
    columns: Columns = {"added": _entry_columns(added)}
    if plan.new_runs or plan.dead:
        columns |= {
            "replaced": _entry_columns(staged.replaced + first),
            "removed": _bigint_columns(staged.removed),
            "strays": _stray_columns(plan, first),
            **plan_columns(plan),
        }
    columns |= {"put": _row_columns(put), "deleted": _key_columns(deleted)}
    return composed(columns, plan.tail, session, seq)


def plan_columns(plan: Plan) -> Columns:
    return {
        "runs_put": _bigint_columns(plan.put()),
        "runs_removed": _bigint_columns(plan.removed()),
        # In order: brokers that free the same tails wait for each other.
        "dead": _bigint_columns(sorted(plan.dead.items())),
    }


def composed(
    columns: Columns, tail: int, session: int, seq: int, old_tail: int = 0
) -> tuple[str, list[Any]]:
    """With those that have parameters. `old_tail`: from which entries are moved."""
    parameters = fence(session, seq)
    for one in columns.values():
        parameters += one
    used = tuple(name for name, one in columns.items() if one)
    return _text(used, tail, old_tail), parameters


@lru_cache(maxsize=64)
def _text(used: tuple[str, ...], tail: int, old_tail: int) -> str:
    named = "".join(f", {name} as ({_PARTS[name]})" for name in used)
    text = f"with {_FENCE}{named} select count(*) from fence"
    return text.format(tail=f"ottla_tail_{tail}", old=f"ottla_tail_{old_tail}")


def _entry_columns(entries: Sequence[Entry]) -> list[Any]:
    if not entries:
        return []
    return [
        bigints([one.partition_id for one in entries]),
        bigints([one.last_offset for one in entries]),
        bigints([len(one.data) for one in entries]),
        bigints([_newest_time(one.times) for one in entries]),
        byteas([one.times for one in entries]),
        byteas([one.headers for one in entries]),
        byteas([one.data for one in entries]),
    ]


def _newest_time(times: bytes) -> int:
    if not times:
        return NOT_INDEXED
    timestamp: int = TIME.unpack_from(times, len(times) - TIME.size)[0]
    return timestamp


def _bigint_columns(rows: Sequence[tuple[int, ...]]) -> list[Any]:
    return [bigints(column) for column in zip(*rows, strict=True)]


def _stray_columns(plan: Plan, first: Sequence[Entry]) -> list[Any]:
    if not first:
        return []
    keys = [(one.partition_id, one.last_offset) for one in first]
    return [*_bigint_columns(list(plan.begun.items())), *_bigint_columns(keys)]


def _row_columns(rows: Sequence[tuple[tuple[str, bytes], bytes]]) -> list[Any]:
    if not rows:
        return []
    places = [place_of(key) for (_, key), _ in rows]
    # Most places are the keys.
    keys = [b"" if place == key else key for ((_, key), _), place in zip(rows, places, strict=True)]
    tables = texts([table for (table, _), _ in rows])
    return [tables, byteas(places), byteas(keys), byteas([value for _, value in rows])]


def _key_columns(keys: Sequence[tuple[str, bytes]]) -> list[Any]:
    if not keys:
        return []
    return [texts([table for table, _ in keys]), byteas([place_of(key) for _, key in keys])]


def place_of(key: bytes) -> bytes:
    if len(key) <= LONGEST_KEY:
        return key
    return key[:LONGEST_KEY] + hashlib.sha256(key).digest()
