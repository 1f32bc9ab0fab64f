"""RegistrationRepository: the registrations of all partitions, which all brokers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from domain.cluster.registration import PartitionRegistration

#: A partition id and its registration; None: it was deleted.
RegistrationChange = tuple[int, PartitionRegistration | None]


class RegistrationRepository(Protocol):
    """Changes are staged, and persisted by the next commit."""

    def load(self) -> Iterator[tuple[int, PartitionRegistration]]: ...

    def save(self, changes: Sequence[RegistrationChange]) -> None: ...

    def follow(self, changed: Callable[[Sequence[RegistrationChange]], None]) -> None:
        """Calls back with what other brokers have changed."""
        ...
