"""That a store serves the log folder of a Kafka in place, as a row.

kafka_folder    nothing -> JSON: what the metadata log of that Kafka had: it grows when Kafka starts
"""

from __future__ import annotations

import json

from application.ports.state_store import StateStore

_TABLE = "kafka_folder"
_KEY = b""


class KafkaFolderRow:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def metadata_bytes(self) -> int | None:
        """None: the store serves no such folder."""
        row = self._state.get(_TABLE, _KEY)
        return None if row is None else int(json.loads(row)["metadata_bytes"])

    def save(self, metadata_bytes: int) -> None:
        self._state.put(_TABLE, _KEY, json.dumps({"metadata_bytes": metadata_bytes}).encode())
