from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from domain.features import FinalizedFeatures


class WrittenTopic(NamedTuple):
    """An internal topic; complete: it has the records of all rows that it repeats."""

    topic_id: bytes
    complete: bool


class ClusterRepository(Protocol):
    def cluster_id(self) -> str | None:
        """The cluster id that clients see; it never changes. None before the first start."""
        ...

    def name_cluster(self, cluster_id: str) -> None: ...

    def next_producer_id(self) -> int:
        """The first producer id that is in no reserved block."""
        ...

    def reserve_producer_ids(self, next_producer_id: int) -> None: ...

    def features(self) -> FinalizedFeatures | None:
        """None: they never changed."""
        ...

    def save_features(self, finalized: FinalizedFeatures) -> None: ...

    def follow_features(self, changed: Callable[[FinalizedFeatures | None], None]) -> None:
        """Calls back when another broker has changed them."""
        ...

    def internal_topic(self, name: str) -> WrittenTopic | None: ...

    def save_internal_topic(self, name: str, written: WrittenTopic | None) -> None: ...
