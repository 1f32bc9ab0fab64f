"""Unfinished imports as rows, the same for every engine.

imports         source -> JSON: {topic: [[partition id, what its log has], ...]}

Their partitions are doomed until the import is complete, so a broker that starts before removes
them, and the import begins again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from application.ports.state_store import StateStore
from domain.errors import StorageFailed

_IMPORTS = "imports"

#: The store's partition id, and numbers that tell whether the source still has the same log.
ImportedPartition = tuple[int, Sequence[int]]


class StoredImportRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def load(self, source: str) -> dict[str, list[ImportedPartition]]:
        """Nothing: there is no unfinished one."""
        row = self._state.get(_IMPORTS, source.encode())
        if row is None:
            return {}
        try:
            return {
                str(topic): [(int(number), tuple(facts)) for number, facts in ones]
                for topic, ones in json.loads(row).items()
            }
        except (ValueError, TypeError, AttributeError, RecursionError) as damage:
            raise StorageFailed(
                f"The store could not read the import {source!r}: {damage!r}"
            ) from damage

    def save(self, source: str, topics: Mapping[str, Sequence[ImportedPartition]]) -> None:
        """Without topics its row is deleted."""
        row = json.dumps(dict(topics), separators=(",", ":")).encode() if topics else None
        self._state.put(_IMPORTS, source.encode(), row)
