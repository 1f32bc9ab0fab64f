"""Rows of the cluster: its id, and the next producer id."""

from __future__ import annotations

from application.ports.state_store import StateStore

_CLUSTER = "cluster"
_ID = b"id"
_NEXT_PRODUCER_ID = b"next_producer_id"


class StoredClusterRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def cluster_id(self) -> str | None:
        value = self._state.get(_CLUSTER, _ID)
        return None if value is None else value.decode()

    def name_cluster(self, cluster_id: str) -> None:
        self._state.put(_CLUSTER, _ID, cluster_id.encode())

    def next_producer_id(self) -> int:
        return int(self._state.get(_CLUSTER, _NEXT_PRODUCER_ID) or 0)

    def reserve_producer_ids(self, next_producer_id: int) -> None:
        self._state.put(_CLUSTER, _NEXT_PRODUCER_ID, b"%d" % next_producer_id)
