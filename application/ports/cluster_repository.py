from __future__ import annotations

from typing import Protocol


class ClusterRepository(Protocol):
    def cluster_id(self) -> str | None:
        """The cluster id that clients see; it never changes. None before the first start."""
        ...

    def name_cluster(self, cluster_id: str) -> None: ...

    def next_producer_id(self) -> int:
        """The first producer id that is in no reserved block."""
        ...

    def reserve_producer_ids(self, next_producer_id: int) -> None: ...
