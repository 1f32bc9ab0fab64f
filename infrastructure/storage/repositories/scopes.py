"""Scopes: which broker has the rows of a store that several brokers share.

CLUSTER       all brokers: topics, leaders, configs, users, ACLs, quotas, features, counters
PARTITION     the leader of a partition: its snapshot, producers, transaction index, positions
GROUP         the coordinator of a group: the group, its committed and pending offsets
TRANSACTION   the coordinator of a transactional id
MARKER        all brokers: the markers that coordinators request of the leaders of partitions. Any
              broker adds some, and the leader removes them

A scope has a number: the partition id, or the hash of the group id or transactional id, which
chooses the partition of the internal topic.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from struct import error as StructError
from typing import NamedTuple

from domain.topics.internal_records import hash_of
from infrastructure.storage.repositories.numbered_offsets import PENDING_OFFSETS, pending_row
from infrastructure.storage.repositories.offset_repository import OFFSETS, group_of_offset

_PARTITION_ID_BYTES = 4


class ScopeKind(IntEnum):
    CLUSTER = 0
    PARTITION = 1
    GROUP = 2
    TRANSACTION = 3
    MARKER = 4


class Scope(NamedTuple):
    kind: ScopeKind
    number: int = 0


CLUSTER = Scope(ScopeKind.CLUSTER)

MARKERS = "markers"
#: Tables whose keys begin with a partition id, as those of markers.
OF_PARTITIONS = ("partitions", "trimming", "producers", "aborted", "positions")
_hash = lru_cache(1000)(hash_of)


def _of_offset(key: bytes, value: bytes) -> str:
    return group_of_offset(key)


def _of_pending_offset(key: bytes, value: bytes) -> str:
    return group_of_offset(pending_row(value)[0])


def _of_group_or_transaction(key: bytes, value: bytes) -> str:
    name = json.loads(value)[0]
    return name if isinstance(name, str) else ""


#: Whose rows they are, and the group id or transactional id of a row.
_OF_SLOTS: dict[str, tuple[ScopeKind, Callable[[bytes, bytes], str]]] = {
    OFFSETS: (ScopeKind.GROUP, _of_offset),
    PENDING_OFFSETS: (ScopeKind.GROUP, _of_pending_offset),
    "groups": (ScopeKind.GROUP, _of_group_or_transaction),
    "transactions": (ScopeKind.TRANSACTION, _of_group_or_transaction),
}
#: Tables of groups and transactions.
OF_SLOTS = tuple(_OF_SLOTS)


def is_shared(table: str) -> bool:
    """Whether all brokers have its rows."""
    return table not in OF_PARTITIONS and table not in _OF_SLOTS and table != MARKERS


def scope_of(table: str, key: bytes, value: bytes) -> Scope:
    """Of a row; that of a deleted one is not needed."""
    if table in OF_PARTITIONS or table == MARKERS:
        kind = ScopeKind.MARKER if table == MARKERS else ScopeKind.PARTITION
        return Scope(kind, int.from_bytes(key[:_PARTITION_ID_BYTES], "big"))
    if table not in _OF_SLOTS:
        return CLUSTER
    kind, name_of = _OF_SLOTS[table]
    try:
        return Scope(kind, _hash(name_of(key, value)))
    except (ValueError, LookupError, TypeError, RecursionError, StructError):
        # Damaged: found by the first that reads it.
        return Scope(kind)
