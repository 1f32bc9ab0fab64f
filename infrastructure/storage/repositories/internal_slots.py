"""InternalSlots: the partitions of the internal topics, whose leaders have other scopes too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from infrastructure.storage.repositories.scopes import Scope, ScopeKind
from infrastructure.storage.repositories.topic_repository import partition_ids_of

_KINDS = {
    OFFSETS_TOPIC.encode(): ScopeKind.GROUP,
    TRANSACTION_TOPIC.encode(): ScopeKind.TRANSACTION,
}


class InternalSlots:
    def __init__(self) -> None:
        #: The partition ids of each internal topic, in order.
        self._ids: dict[ScopeKind, Sequence[int]] = {}

    def copy(self) -> InternalSlots:
        copy = InternalSlots()
        copy._ids = dict(self._ids)
        return copy

    def put(self, name: bytes, row: bytes | None) -> None:
        """The row of any topic; None: it is deleted."""
        kind = _KINDS.get(name)
        if kind is not None:
            self._ids[kind] = [] if row is None else partition_ids_of(row)

    def of(self, partition_ids: Collection[int]) -> Iterator[tuple[ScopeKind, int, list[int]]]:
        """By kind of scope: how many partitions the topic has, and the numbers of these."""
        wanted = set(partition_ids)
        for kind, ids in self._ids.items():
            numbers = [number for number, one in enumerate(ids) if one in wanted]
            if numbers:
                yield kind, len(ids), numbers

    def partition_id(self, scope: Scope) -> int | None:
        """Whose leader has the scope; None: a topic is missing."""
        if scope.kind is ScopeKind.PARTITION:
            return scope.number
        ids = self._ids.get(scope.kind)
        return ids[scope.number % len(ids)] if ids else None
