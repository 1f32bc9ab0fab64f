"""MarkerRepository: the markers that coordinators have requested of the leaders of partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from domain.transactions.transaction import ProducerIdAndEpoch


class RequestedMarker(NamedTuple):
    """At most one of a partition and a transactional id: the next transaction begins later."""

    #: Never used again.
    marker_id: bytes
    partition_id: int
    topic: str
    partition: int
    transactional_id: str
    producer: ProducerIdAndEpoch
    committed: bool
    #: In a partition of __consumer_offsets: the groups with offsets in the transaction.
    groups: tuple[str, ...] = ()


class MarkerRepository(Protocol):
    """Requests of all brokers, as committed. Changes are staged, and persisted by the next commit.

    The leader of a partition sees all that leaders before it have removed.
    """

    def all(self) -> Iterable[RequestedMarker]:
        """In the order of their partitions."""
        ...

    def add(self, marker: RequestedMarker) -> None: ...

    def remove(self, marker: RequestedMarker) -> None: ...

    def follow(self, changed: Callable[[], None]) -> None:
        """Calls back when any broker has added or removed some."""
        ...
