"""Groups as rows, the same for every engine: a row holds the newest change of its kind and name.

groups          digest of the group id, kind, name -> JSON: [group id, name, what the row holds]

The kinds of rows are in classic_group_rows.py and consumer_group_rows.py. Ids and names may be
longer than a key, so the key has a digest of them, which also lets one group be read alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b

from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.groups.group import GroupChange
from infrastructure.storage.repositories.classic_group_rows import CLASSIC_ROWS
from infrastructure.storage.repositories.consumer_group_rows import CONSUMER_ROWS
from infrastructure.storage.repositories.group_row import RowKind

_GROUPS = "groups"
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_DIGEST_BYTES = 16
_NAME_BYTES = 300

#: Rows that are read at once.
_PART = 256

ROWS: tuple[RowKind, ...] = CLASSIC_ROWS + CONSUMER_ROWS

_BY_CHANGE = {row.change: row for row in ROWS}
_BY_LETTER = {row.letter: row for row in ROWS}


class StoredGroupRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def load(
        self, group_id: str | None = None, includes: Callable[[str], bool] | None = None
    ) -> Iterator[GroupChange]:
        if group_id is None:
            for key, value in self._state.scan(_GROUPS):
                change = _change(key, value)
                if includes is None or includes(change.group_id):
                    yield change
            return
        first = prefix = _digest(group_id)
        while True:
            rows = self._state.scan(_GROUPS, first, _PART)
            for key, value in rows:
                if not key.startswith(prefix):
                    return
                yield _change(key, value)
            if len(rows) < _PART:
                return
            first = rows[-1][0] + b"\0"

    def save(self, change: GroupChange) -> None:
        row = _BY_CHANGE.get(type(change))
        if row is None:
            return
        name = row.name(change)
        values = row.encode(change)
        text = None
        if values is not None:
            row_values = [change.group_id, name, values]
            text = json.dumps(row_values, separators=(",", ":")).encode()
        self._state.put(_GROUPS, _key(change.group_id, row, name), text)


def _key(group_id: str, row: RowKind, name: str) -> bytes:
    """Rows of a kind are in the order of their names, except long ones."""
    encoded = name.encode()
    if len(encoded) > _NAME_BYTES:
        encoded = encoded[:_NAME_BYTES] + _digest(name)
    return _digest(group_id) + row.letter + encoded


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()


def _change(key: bytes, value: bytes) -> GroupChange:
    try:
        row = _BY_LETTER[key[_DIGEST_BYTES : _DIGEST_BYTES + 1]]
        group_id, name, values = json.loads(value)
        return row.decode(group_id, name, values)
    except _DAMAGE as damage:
        raise StorageFailed(
            f"The store could not read a group's row {key!r}: {damage!r}"
        ) from damage
