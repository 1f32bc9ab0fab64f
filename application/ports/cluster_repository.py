from __future__ import annotations

from typing import Protocol


class ClusterRepository(Protocol):
    def cluster_id(self) -> str | None:
        """The id that clients see, once it has been given; it never changes."""
        ...

    def name_cluster(self, cluster_id: str) -> None: ...

    def next_producer_id(self) -> int:
        """The first producer id that no block has been reserved for."""
        ...

    def reserve_producer_ids(self, next_producer_id: int) -> None: ...
