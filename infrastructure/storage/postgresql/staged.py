"""Staged: the changes of one pass, as parameters of one statement; and what follows of them here.

    update of ottla_store    only by the broker whose session it has, and after its last commit
    new entries              one for each partition, up to a megabyte each
    replaced entries         of compaction: under the keys of entries that are there, or new ones
    removed entries          by partition and range of last offsets
    rows put, rows deleted

All of it is one statement, so that it takes one round trip, and happens as a whole or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from struct import Struct
from typing import Any, NamedTuple

from psycopg.types.numeric import Int4, Int8

from application.ports.log_store import NOT_INDEXED, Buffer, IndexEntry
from domain.messages.batch import HEADER_BYTES
from infrastructure.storage.lmdb.entries import batches_of
from infrastructure.storage.postgresql.arrays import bigints, byteas, texts
from infrastructure.storage.postgresql.tables import LONGEST_KEY
from infrastructure.storage.repositories.leader_rows import LEADERS
from infrastructure.storage.repositories.scopes import is_shared, scope_of

#: A timestamp, and the last offset of its batch.
TIME = Struct(">qq")
#: Larger ones take a statement longer than several of this size.
MOST_ENTRY_BYTES = 1 << 20

_ENTRY_COLUMNS = "partition_id, last_offset, size, timestamp, times, headers, data"
_UNNESTED = (
    "unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bytea[], %b::bytea[],"
    " %b::bytea[]) as u(partition_id, last_offset, size, timestamp, times, headers, data)"
)
_ENTRY = (
    "insert into ottla_entries ({columns}) select u.partition_id, u.last_offset, u.size,"
    " nullif(u.timestamp, -1), nullif(u.times, ''), u.headers, u.data"
    " from {unnested}, fence"
)
_PARTS = {
    "added": _ENTRY,
    "replaced": _ENTRY + " on conflict (partition_id, last_offset) do update set size ="
    " excluded.size, timestamp = excluded.timestamp, times = excluded.times,"
    " headers = excluded.headers, data = excluded.data",
    "removed": "delete from ottla_entries e using fence, unnest(%b::bigint[], %b::bigint[],"
    " %b::bigint[]) as u(partition_id, first_offset, last_offset)"
    " where e.partition_id = u.partition_id"
    " and e.last_offset between u.first_offset and u.last_offset",
    "put": 'insert into ottla_rows ("table", place, key, value, kind, number)'
    " select u.\"table\", u.place, nullif(u.key, ''), u.value, u.kind, u.number from"
    " unnest(%b::text[], %b::bytea[], %b::bytea[], %b::bytea[], %b::bigint[], %b::bigint[])"
    ' as u("table", place, key, value, kind, number), fence'
    ' on conflict ("table", place) do update set value = excluded.value',
    "deleted": "delete from ottla_rows r using fence, unnest(%b::text[], %b::bytea[])"
    ' as u("table", place) where r."table" = u."table" and r.place = u.place',
    "unregistered": "delete from ottla_brokers b using fence where b.is_fenced"
    " and b.node_id = any(%b::bigint[])",
    "next_version": "update ottla_store set version = version + 1 from fence where version = %b"
    " returning version",
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
_TOLD = "select pg_notify('ottla ' || current_schema(), '') as told from next_version"
#: By its place: a long transaction of somebody else keeps all versions of the row, which a search
#: by key would look through.
_FENCE = (
    "fence as (update ottla_fences set seq = %b"
    " where ctid = %b::text::tid and node_id = %b and session = %b and seq = %b"
    " returning ctid::text as place)"
)
_KEPT = "select place from fence"
#: Otherwise the division fails, and nothing is persisted.
_KEPT_SHARED = (
    "select place, 1 / (select count(*) from next_version),"
    " (select count(told::text) from told) from fence"
)


#: Table and key, and the value.
_Key = tuple[str, bytes]
_Row = tuple[_Key, bytes]


class Fence(NamedTuple):
    """The row of `ottla_fences` that a commit must find as it was left."""

    node_id: int
    session: int
    seq: int
    #: Its ctid.
    place: str


class Entry(NamedTuple):
    partition_id: int
    last_offset: int
    #: Of the timestamp index, in order.
    indexed: Sequence[IndexEntry]
    data: bytes

    @property
    def headers(self) -> bytes:
        view = memoryview(self.data)
        return b"".join(view[start : start + HEADER_BYTES] for start, _, _ in batches_of(view))


class _Growing:
    """An entry that gets further batches in this pass."""

    __slots__ = ("batches", "indexed", "last_offset", "size_bytes")

    def __init__(self) -> None:
        self.batches: list[bytes] = []
        self.size_bytes = 0
        self.last_offset = -1
        self.indexed: list[IndexEntry] = []

    def entry(self, partition_id: int) -> Entry:
        data = self.batches[0] if len(self.batches) == 1 else b"".join(self.batches)
        return Entry(partition_id, self.last_offset, self.indexed, data)


class Staged:
    __slots__ = (
        "_growing",
        "added",
        "removed",
        "replaced",
        "rows",
        "unregistered",
        "version",
        "why_not",
    )

    def __init__(self, version: int = 0) -> None:
        #: Of the shared rows on which changes of them were decided.
        self.version = version
        self.added: list[Entry] = []
        self._growing: dict[int, _Growing] = {}
        self.replaced: list[Entry] = []
        #: Partition id, first and last offset.
        self.removed: list[tuple[int, int, int]] = []
        self.rows: dict[tuple[str, bytes], bytes | None] = {}
        #: Node ids.
        self.unregistered: list[int] = []
        #: The pass cannot be committed.
        self.why_not: str | None = None

    def __bool__(self) -> bool:
        return bool(
            self.added or self._growing or self.replaced or self.removed or self.rows
            or self.unregistered or self.why_not
        )  # fmt: skip

    def append(
        self, partition_id: int, last_offset: int, batch: Buffer, indexed_timestamp: int
    ) -> None:
        growing = self._growing.get(partition_id)
        if growing is None or growing.size_bytes + len(batch) > MOST_ENTRY_BYTES:
            self._end_entry(partition_id)
            growing = self._growing[partition_id] = _Growing()
        elif last_offset <= growing.last_offset:
            self.why_not = f"partition {partition_id} has a batch at {last_offset} already"
            return
        growing.batches.append(bytes(batch))
        growing.size_bytes += len(batch)
        growing.last_offset = last_offset
        if indexed_timestamp >= 0:
            growing.indexed.append((indexed_timestamp, last_offset))

    def _end_entry(self, partition_id: int) -> None:
        growing = self._growing.pop(partition_id, None)
        if growing is not None:
            self.added.append(growing.entry(partition_id))

    def end(self) -> None:
        """Before it is committed."""
        for partition_id in list(self._growing):
            self._end_entry(partition_id)

    def removed_to(self, partition_id: int) -> int:
        """Below this offset nothing is left after the commit."""
        ends = [last + 1 for one, first, last in self.removed if one == partition_id and not first]
        return max(ends, default=0)

    def forget_batches(self, partition_id: int) -> None:
        """Of a log that is dropped."""
        self._growing.pop(partition_id, None)
        self.added = [one for one in self.added if one.partition_id != partition_id]
        self.replaced = [one for one in self.replaced if one.partition_id != partition_id]

    @property
    def changes_shared_rows(self) -> bool:
        return any(is_shared(table) for table, _ in self.rows)

    def leaders(self) -> list[tuple[bytes, bytes | None]]:
        """The changed rows that say which broker leads."""
        return [(key, row) for (table, key), row in self.rows.items() if table == LEADERS]

    def statement(self, fence: Fence) -> tuple[str, list[Any]]:
        """Its row has the new place of the fence. No row: the session is over, nothing is
        persisted; it fails if another broker has changed the shared rows meanwhile.
        """
        put: list[_Row] = []
        deleted: list[_Key] = []
        shared_put: list[_Row] = []
        shared_deleted: list[_Key] = []
        for key, value in self.rows.items():
            shared = is_shared(key[0])
            if value is None:
                (shared_deleted if shared else deleted).append(key)
            else:
                (shared_put if shared else put).append((key, value))
        unregistered = self.unregistered
        shared_rows = shared_put or shared_deleted
        parts: dict[str, list[Any]] = {
            "added": self.added and _entry_columns(self.added),
            "replaced": self.replaced and _entry_columns(self.replaced),
            "removed": self.removed and _range_columns(self.removed),
            "put": put and [*_row_columns(put), *_scope_columns(put)],
            "deleted": deleted and _key_columns(deleted),
            "unregistered": [bigints(unregistered)] if unregistered else [],
            "next_version": [Int8(self.version)] if shared_rows else [],
            "shared_put": shared_put and _row_columns(shared_put),
            "shared_deleted": shared_deleted and _key_columns(shared_deleted),
        }
        parameters: list[Any] = [
            Int8(fence.seq + 1), fence.place, Int4(fence.node_id), Int8(fence.session),
            Int8(fence.seq),
        ]  # fmt: skip
        for one in parts.values():
            parameters += one
        return _text(tuple(name for name, one in parts.items() if one)), parameters


@cache
def _text(used: tuple[str, ...]) -> str:
    parts = [_PARTS[name].format(columns=_ENTRY_COLUMNS, unnested=_UNNESTED) for name in used]
    named = ", ".join(f"{name} as ({part})" for name, part in zip(used, parts, strict=True))
    if "next_version" not in used:
        return f"with {_FENCE}, {named} {_KEPT}"
    return f"with {_FENCE}, {named}, told as ({_TOLD}) {_KEPT_SHARED}"


def _entry_columns(entries: Sequence[Entry]) -> list[Any]:
    return [
        bigints([one.partition_id for one in entries]),
        bigints([one.last_offset for one in entries]),
        bigints([len(one.data) for one in entries]),
        bigints([one.indexed[-1][0] if one.indexed else NOT_INDEXED for one in entries]),
        byteas([b"".join(TIME.pack(*each) for each in one.indexed) for one in entries]),
        byteas([one.headers for one in entries]),
        byteas([one.data for one in entries]),
    ]


def _range_columns(ranges: Sequence[tuple[int, int, int]]) -> list[Any]:
    return [bigints(column) for column in zip(*ranges, strict=True)]


def _row_columns(rows: Sequence[_Row]) -> list[Any]:
    places = [place_of(key) for (_, key), _ in rows]
    # Most places are the keys.
    keys = [b"" if place == key else key for ((_, key), _), place in zip(rows, places, strict=True)]
    tables = texts([table for (table, _), _ in rows])
    return [tables, byteas(places), byteas(keys), byteas([value for _, value in rows])]


def _scope_columns(rows: Sequence[_Row]) -> list[Any]:
    scopes = [scope_of(table, key, value) for (table, key), value in rows]
    return [bigints([one.kind for one in scopes]), bigints([one.number for one in scopes])]


def _key_columns(keys: Sequence[_Key]) -> list[Any]:
    return [texts([table for table, _ in keys]), byteas([place_of(key) for _, key in keys])]


def place_of(key: bytes) -> bytes:
    if len(key) <= LONGEST_KEY:
        return key
    return key[:LONGEST_KEY] + hashlib.sha256(key).digest()
