"""Rows of the cluster: its id, the next producer id, features, and the internal topics.

cluster         features -> JSON: [epoch, {feature: level}]
                offsets_topic, transaction_topic -> topic id, and 1 if the topic is complete
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from application.ports.cluster_repository import WrittenTopic
from application.ports.state_store import StateStore
from domain.features import DEFAULT_LEVELS, FinalizedFeatures
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC

_CLUSTER = "cluster"
_ID = b"id"
_NEXT_PRODUCER_ID = b"next_producer_id"
_FEATURES = b"features"
_INTERNAL_TOPICS = {OFFSETS_TOPIC: b"offsets_topic", TRANSACTION_TOPIC: b"transaction_topic"}
_ID_BYTES = 16


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

    def features(self) -> FinalizedFeatures | None:
        value = self._state.get(_CLUSTER, _FEATURES)
        if value is None:
            return None
        epoch, levels = json.loads(value)
        return FinalizedFeatures(epoch, {**DEFAULT_LEVELS, **levels})

    def save_features(self, finalized: FinalizedFeatures) -> None:
        value = json.dumps([finalized.epoch, dict(finalized.levels)]).encode()
        self._state.put(_CLUSTER, _FEATURES, value)

    def follow_features(self, changed: Callable[[FinalizedFeatures | None], None]) -> None:
        def rows_changed(keys: Sequence[bytes]) -> None:
            if _FEATURES in keys:
                changed(self.features())

        self._state.follow(_CLUSTER, rows_changed)

    def internal_topic(self, name: str) -> WrittenTopic | None:
        value = self._state.get(_CLUSTER, _INTERNAL_TOPICS[name])
        return None if value is None else WrittenTopic(value[:_ID_BYTES], len(value) > _ID_BYTES)

    def save_internal_topic(self, name: str, written: WrittenTopic | None) -> None:
        value = None
        if written is not None:
            value = written.topic_id + (b"\1" if written.complete else b"")
        self._state.put(_CLUSTER, _INTERNAL_TOPICS[name], value)
