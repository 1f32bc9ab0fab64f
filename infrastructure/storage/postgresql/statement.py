"""The statement of a commit: all changes of a pass.

    update of ottla_fences   only by the broker whose session it has, and after its last commit
    new entries              into the current tail, one for each partition, up to a megabyte each
    replaced entries         of compaction: there, too, under the keys of entries that are there, or
                             new ones; and the first entries of a run
    removed entries          of the current tail; also those of it that are dead, where a
                             new run would cover them: other brokers have replaced or removed them,
                             or the log begins again
    entries of an object, without batches: sealed ones, or the new ones of a large commit
    runs put, runs removed, bytes that are not needed any more, by tail
    rows put, rows deleted
    shared rows put or deleted, in the next version, of which all brokers are told
    requested markers put or deleted, of which they are told, too
    brokers that are not registered any more

It takes one round trip, and happens as a whole or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from psycopg.types.numeric import Int8

from infrastructure.storage.postgresql.arrays import bigints, byteas, texts
from infrastructure.storage.postgresql.entries import Entry, newest_time
from infrastructure.storage.postgresql.fence import FENCE, Fence, fence_parameters
from infrastructure.storage.postgresql.marker_rows import CHANGED
from infrastructure.storage.postgresql.object_entries import NewObject, columns_of
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.tables import ENTRY_COLUMNS, LONGEST_KEY
from infrastructure.storage.postgresql.timeline import TIMELINE
from infrastructure.storage.repositories.scopes import MARKERS, is_shared, scope_of

NEXT_VERSION, SAME_TIMELINE = "next_version", "same_timeline"
SEALED = "sealed"
MARKERS_REMOVED, MARKERS_ALL = "markers_removed", "markers_all"
MARKERS_TOLD = "markers_told"
ALL_UNREGISTERED = "all_unregistered"
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
    # Dead ones that new runs would cover.
    "strays": "delete from {tail} e using fence, unnest(%b::bigint[], %b::bigint[], %b::bigint[])"
    " as u(partition_id, first_offset, end_offset)"
    " where e.partition_id = u.partition_id and e.last_offset >= u.first_offset"
    " and e.last_offset < u.end_offset"
    " and not exists (select from unnest(%b::bigint[], %b::bigint[])"
    " as n(partition_id, last_offset)"
    " where n.partition_id = e.partition_id and n.last_offset = e.last_offset)",
    # Another broker may have deleted what looked forgotten.
    SEALED: "update ottla_tails t set written = %b, dead = %b, session = null from fence"
    " where t.n = %b and t.object = %b and t.session is not null and t.deleted is null"
    " returning t.n",
    "in_object": "insert into ottla_object_entries (tail, partition_id, last_offset, size,"
    " timestamp, times, headers, position, crc) select s.n, u.partition_id, u.last_offset, u.size,"
    " nullif(u.timestamp, -1), nullif(u.times, ''), u.headers, u.position, u.crc from unnest("
    "%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bytea[], %b::bytea[],"
    " %b::bigint[], %b::bigint[])"
    " as u(partition_id, last_offset, size, timestamp, times, headers, position, crc), sealed s",
    "runs_put": "insert into ottla_runs (partition_id, first_offset, tail) select u.* from"
    " unnest(%b::bigint[], %b::bigint[], %b::bigint[]) as u, fence"
    " on conflict (partition_id, first_offset) do update set tail = excluded.tail",
    "runs_removed": "delete from ottla_runs r using fence, unnest(%b::bigint[], %b::bigint[])"
    " as u(partition_id, first_offset)"
    " where r.partition_id = u.partition_id and r.first_offset = u.first_offset",
    "dead": "update ottla_tails t set dead = t.dead + u.dead from fence,"
    " unnest(%b::bigint[], %b::bigint[]) as u(n, dead) where t.n = u.n",
    "put": 'insert into ottla_rows ("table", place, key, value, kind, number)'
    " select u.\"table\", u.place, nullif(u.key, ''), u.value, u.kind, u.number from"
    " unnest(%b::text[], %b::bytea[], %b::bytea[], %b::bytea[], %b::bigint[], %b::bigint[])"
    ' as u("table", place, key, value, kind, number), fence'
    ' on conflict ("table", place) do update set value = excluded.value',
    "deleted": "delete from ottla_rows r using fence, unnest(%b::text[], %b::bytea[])"
    ' as u("table", place) where r."table" = u."table" and r.place = u.place',
    # One that starts has a session; that of one that is gone has been ended.
    "fences_removed": "delete from ottla_fences f using fence"
    " where f.session = 0 and f.node_id = any(%b::bigint[]) returning f.node_id",
    "unregistered": "delete from ottla_brokers b using fences_removed f"
    " where b.node_id = f.node_id and b.node_id = any(%b::bigint[]) returning b.node_id",
    ALL_UNREGISTERED: "select 1 / ((select count(*) from unregistered) = (select count(*)"
    " from ottla_brokers where node_id = any(%b::bigint[])))::integer as is_so",
    MARKERS_REMOVED: "delete from ottla_rows r using fence, unnest(%b::text[], %b::bytea[])"
    ' as u("table", place) where r."table" = u."table" and r.place = u.place returning r.place',
    MARKERS_ALL: "select 1 / ((select count(*) from markers_removed) = %b)::integer as is_so",
    MARKERS_TOLD: "select pg_notify('ottla ' || current_schema(), %b::text) as told from fence",
    NEXT_VERSION: "update ottla_store set version = version + 1 from fence where version = %b"
    " returning version",
    SAME_TIMELINE: f"select 1 / ({TIMELINE} = %b)::integer as is_so",
    "shared_put": 'insert into ottla_rows ("table", place, key, value, kind, number, version)'
    " select u.\"table\", u.place, nullif(u.key, ''), u.value, 0, 0, v.version from"
    " unnest(%b::text[], %b::bytea[], %b::bytea[], %b::bytea[])"
    ' as u("table", place, key, value), next_version v'
    ' on conflict ("table", place) do update set value = excluded.value,'
    " version = excluded.version",
    "shared_deleted": "update ottla_rows r set value = null, version = v.version"
    ' from next_version v, unnest(%b::text[], %b::bytea[]) as u("table", place)'
    ' where r."table" = u."table" and r.place = u.place',
}

#: Of a SELECT in the statement only what is used is executed.
_TOLD = "select pg_notify('ottla ' || current_schema(), '') as told from next_version"
_IS_TOLD = "(select count(told::text) from {})"
#: If the version is not the next one, the division fails, and nothing is persisted. The same if a
#: standby was promoted since the changes were decided; if a marker that is removed is gone, as it
#: is written already; if a broker that is to be unregistered has a session; or if the row of a new
#: object is gone.
_IS_NEXT = "1 / (select count(*) from next_version)"
_IS_SEALED = "1 / (select count(*) from sealed)"

Columns = dict[str, list[Any]]
Entries = list[Entry]
#: Table and key.
RowKey = tuple[str, bytes]
RowAndValue = tuple[RowKey, bytes]


def statement_of(
    staged: Staged, plan: Plan, fence: Fence, new: NewObject | None = None
) -> tuple[str, list[Any]]:
    """Its row has the new place of the fence. No row: the session is over, nothing is persisted. It
    fails if another broker has changed the shared rows, or written a marker, meanwhile, or if
    changes of shared rows were decided before a standby was promoted. `new`: has all new entries.
    """
    added, first = staged.added if new is None else Entries(), Entries()
    # A new object has no older entries.
    ranges = plan.new_ranges() if new is None else []
    if ranges:
        begun = {partition_id for partition_id, *_ in ranges}
        first = [one for one in added if one.partition_id in begun]
        added = [one for one in added if one.partition_id not in begun]
    columns: Columns = {"added": _entry_columns(added)}
    if new is not None:
        columns |= object_columns(new)
    if plan.new_runs or plan.dead:
        put = staged.replaced + first
        columns |= {
            "replaced": _entry_columns(put),
            "removed": _bigint_columns(staged.removed),
            "strays": stray_columns(ranges, [(one.partition_id, one.last_offset) for one in put]),
            **plan_columns(plan),
        }
    if staged.rows:
        columns |= _columns_of_rows(staged)
        if staged.of_table(MARKERS):
            columns[MARKERS_TOLD] = [CHANGED]
    if staged.unregistered:
        gone = [bigints(staged.unregistered)]
        columns |= {"fences_removed": gone, "unregistered": gone, ALL_UNREGISTERED: gone}
    return composed(columns, plan.tail, fence)


def _columns_of_rows(staged: Staged) -> Columns:
    put: list[RowAndValue] = []
    deleted: list[RowKey] = []
    shared_put: list[RowAndValue] = []
    shared_deleted: list[RowKey] = []
    markers_removed: list[RowKey] = []
    for key, value in staged.rows.items():
        shared = is_shared(key[0])
        if value is None:
            removed = markers_removed if key[0] == MARKERS else deleted
            (shared_deleted if shared else removed).append(key)
        else:
            (shared_put if shared else put).append((key, value))
    is_next_version = shared_put or shared_deleted
    return {
        "put": [*_row_columns(put), *_scope_columns(put)],
        "deleted": _key_columns(deleted),
        MARKERS_REMOVED: _key_columns(markers_removed),
        MARKERS_ALL: [Int8(len(markers_removed))] if markers_removed else [],
        NEXT_VERSION: [Int8(staged.version)] if is_next_version else [],
        SAME_TIMELINE: [Int8(staged.timeline)] if is_next_version and staged.timeline else [],
        "shared_put": _row_columns(shared_put),
        "shared_deleted": _key_columns(shared_deleted),
    }


def object_columns(new: NewObject, dead_bytes: int = 0) -> Columns:
    return {
        SEALED: [Int8(new.size_bytes), Int8(dead_bytes), Int8(new.number), new.name],
        "in_object": columns_of(new.entries),
    }


def plan_columns(plan: Plan) -> Columns:
    return {
        "runs_put": _bigint_columns(plan.put()),
        "runs_removed": _bigint_columns(plan.removed()),
        # In order: brokers that free the same tails wait for each other.
        "dead": _bigint_columns(sorted(plan.dead.items())),
    }


def stray_columns(
    ranges: Sequence[tuple[int, int, int]], keys: Sequence[tuple[int, int]]
) -> list[Any]:
    """`ranges`: new ones of the current tail. `keys`: of the entries that it gets there."""
    if not ranges:
        return []
    partition_ids = bigints([partition_id for partition_id, _ in keys])
    last_offsets = bigints([last_offset for _, last_offset in keys])
    return [*_bigint_columns(ranges), partition_ids, last_offsets]


def composed(columns: Columns, tail: int, fence: Fence, old_tail: int = 0) -> tuple[str, list[Any]]:
    """With those that have parameters. `old_tail`: from which entries are moved."""
    parameters = fence_parameters(fence)
    for one in columns.values():
        parameters += one
    used = tuple(name for name, one in columns.items() if one)
    return _text(used, tail, old_tail), parameters


@lru_cache(maxsize=64)
def _text(used: tuple[str, ...], tail: int, old_tail: int) -> str:
    named = "".join(f", {name} as ({_PARTS[name]})" for name in used)
    selected = ["place"]
    if SEALED in used:
        selected.append(_IS_SEALED)
    if NEXT_VERSION in used:
        named += f", shared_told as ({_TOLD})"
        selected += [_IS_NEXT, _IS_TOLD.format("shared_told")]
    checks = (SAME_TIMELINE, MARKERS_ALL, ALL_UNREGISTERED)
    selected += [f"(select is_so from {one})" for one in checks if one in used]
    if MARKERS_TOLD in used:
        selected.append(_IS_TOLD.format(MARKERS_TOLD))
    text = f"with {FENCE}{named} select {', '.join(selected)} from fence"
    return text.format(tail=f"ottla_tail_{tail}", old=f"ottla_tail_{old_tail}")


def _entry_columns(entries: Sequence[Entry]) -> list[Any]:
    if not entries:
        return []
    return [
        bigints([one.partition_id for one in entries]),
        bigints([one.last_offset for one in entries]),
        bigints([len(one.data) for one in entries]),
        bigints([newest_time(one.times) for one in entries]),
        byteas([one.times for one in entries]),
        byteas([one.headers for one in entries]),
        byteas([one.data for one in entries]),
    ]


def _bigint_columns(rows: Sequence[tuple[int, ...]]) -> list[Any]:
    return [bigints(column) for column in zip(*rows, strict=True)]


def _scope_columns(rows: Sequence[RowAndValue]) -> list[Any]:
    if not rows:
        return []
    scopes = [scope_of(table, key, value) for (table, key), value in rows]
    return [bigints([one.kind for one in scopes]), bigints([one.number for one in scopes])]


def _row_columns(rows: Sequence[RowAndValue]) -> list[Any]:
    if not rows:
        return []
    places = [place_of(key) for (_, key), _ in rows]
    # Most places are the keys.
    keys = [b"" if place == key else key for ((_, key), _), place in zip(rows, places, strict=True)]
    tables = texts([table for (table, _), _ in rows])
    return [tables, byteas(places), byteas(keys), byteas([value for _, value in rows])]


def _key_columns(keys: Sequence[RowKey]) -> list[Any]:
    if not keys:
        return []
    return [texts([table for table, _ in keys]), byteas([place_of(key) for _, key in keys])]


def place_of(key: bytes) -> bytes:
    if len(key) <= LONGEST_KEY:
        return key
    return key[:LONGEST_KEY] + hashlib.sha256(key).digest()
