"""Requested markers as rows, which all brokers have.

markers         partition id, marker id -> JSON: the other fields in their order
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from struct import Struct

from application.ports.marker_repository import RequestedMarker
from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.transactions.transaction import ProducerIdAndEpoch
from infrastructure.storage.repositories.scopes import MARKERS

_PARTITION_ID = Struct(">I")

WhenCommitted = Callable[[Callable[[StorageFailed | None], None]], None]


class StoredMarkerRepository:
    __slots__ = ("_decoded", "_state", "_when_changed", "_when_committed")

    def __init__(self, state: StateStore, when_committed: WhenCommitted) -> None:
        self._state = state
        self._when_committed = when_committed
        #: By key: a row never changes, and all are asked for when one comes or goes.
        self._decoded: dict[bytes, RequestedMarker] = {}
        self._when_changed: list[Callable[[], None]] = []
        state.follow(MARKERS, lambda keys: self._changed())

    def all(self) -> Iterable[RequestedMarker]:
        before = self._decoded
        self._decoded = {
            key: before.get(key) or _decoded(key, row) for key, row in self._state.scan(MARKERS)
        }
        return self._decoded.values()

    def add(self, marker: RequestedMarker) -> None:
        self._stage(marker, json.dumps(marker[2:]).encode())

    def remove(self, marker: RequestedMarker) -> None:
        self._stage(marker, None)

    def follow(self, changed: Callable[[], None]) -> None:
        self._when_changed.append(changed)

    def _stage(self, marker: RequestedMarker, row: bytes | None) -> None:
        key = _PARTITION_ID.pack(marker.partition_id) + marker.marker_id
        self._state.put(MARKERS, key, row)
        self._when_committed(self._committed)

    def _committed(self, failure: StorageFailed | None) -> None:
        if failure is None:
            self._changed()

    def _changed(self) -> None:
        for call in self._when_changed:
            call()


def _decoded(key: bytes, row: bytes) -> RequestedMarker:
    try:
        [partition_id] = _PARTITION_ID.unpack_from(key)
        topic, partition, transactional_id, producer, committed, groups = json.loads(row)
        return RequestedMarker(
            key[_PARTITION_ID.size :],
            partition_id,
            topic,
            partition,
            transactional_id,
            ProducerIdAndEpoch(*producer),
            committed,
            tuple(groups),
        )
    except (ValueError, TypeError) as damage:
        raise StorageFailed(
            f"The store could not read the row of a requested marker {key!r}: {damage!r}"
        ) from damage
