"""Draft: a consumer group as it would be after a decision, which is made on it step by step.

It holds what is different from the group, and reads all else there: a decision costs what it
changes, not what the group has. The group stays as it is, also when the request is refused.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, MutableMapping, ValuesView
from typing import Any, TypeVar

from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.subscription import RefCounts
from domain.groups.consumer.timeouts import Timeouts
from domain.groups.group import Decision, GroupChange

K = TypeVar("K")
V = TypeVar("V")

_DELETED: Any = object()
_UNCHANGED: Any = object()


class Overlay(MutableMapping[K, V]):
    """A dict with changes, as a mapping; the dict stays as it is. Changed keys are the last."""

    __slots__ = ("_base", "_changed")

    def __init__(self, base: MutableMapping[K, V]) -> None:
        assert isinstance(base, dict), "no draft of a draft"
        self._base: dict[K, V] = base
        self._changed: dict[K, V] = {}

    def get(self, key: K, default: Any = None) -> Any:
        value = self._changed.get(key, _UNCHANGED)
        if value is _UNCHANGED:
            return self._base.get(key, default)
        return default if value is _DELETED else value

    def __getitem__(self, key: K) -> V:
        value: V = self.get(key, _DELETED)
        if value is _DELETED:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return self.get(key, _DELETED) is not _DELETED  # type: ignore[arg-type]

    def __setitem__(self, key: K, value: V) -> None:
        self._changed.pop(key, None)
        self._changed[key] = value

    def __delitem__(self, key: K) -> None:
        self[key] = _DELETED

    def _merged(self) -> dict[K, V]:
        merged = self._base.copy()
        for key, value in self._changed.items():
            merged.pop(key, None)
            if value is not _DELETED:
                merged[key] = value
        return merged

    def __len__(self) -> int:
        base = self._base
        return len(base) + sum(
            (value is not _DELETED) - (key in base) for key, value in self._changed.items()
        )

    def __iter__(self) -> Iterator[K]:
        return iter(self._merged())

    def items(self) -> ItemsView[K, V]:
        return self._merged().items()

    def values(self) -> ValuesView[V]:
        return self._merged().values()


class Draft(ConsumerGroup):
    __slots__ = ("changes",)

    def __init__(self, group: ConsumerGroup) -> None:
        self.group_id = group.group_id
        self.epoch = group.epoch
        self.target_epoch = group.target_epoch
        self.topics_hash = group.topics_hash
        self.members = Overlay(group.members)
        self.currents = Overlay(group.currents)
        self.targets = Overlay(group.targets)
        self.regexes = Overlay(group.regexes)
        self.static_members = Overlay(group.static_members)
        self.owners = Overlay(group.owners)
        self.names = RefCounts(Overlay(group.names.counts))
        self.used_regexes = RefCounts(Overlay(group.used_regexes.counts))
        self.timeouts = Timeouts()
        self.seen_revision = group.seen_revision
        self.changes: list[GroupChange] = []

    def change(self, change: GroupChange) -> None:
        self.apply(change)
        self.changes.append(change)

    def decision(self, response: object = None) -> Decision:
        return Decision(self.changes, response=response)
