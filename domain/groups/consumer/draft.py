"""Draft: a consumer group as it would be after a decision, which is made on it step by step.

It holds what is different from the group, and reads all else there: a decision costs what it
changes, not what the group has. The group stays as it is, also when the request is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, TypeVar

from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.subscription import InUse
from domain.groups.consumer.timeouts import Timeouts
from domain.groups.group import Decision, GroupChange

K = TypeVar("K")
V = TypeVar("V")

_GONE: Any = object()


class Overlay(MutableMapping[K, V]):
    """A mapping with changes over one that stays as it is; changed keys are the last."""

    __slots__ = ("_base", "_changed", "_size")

    def __init__(self, base: Mapping[K, V]) -> None:
        self._base = base
        self._changed: dict[K, V] = {}
        self._size = len(base)

    def __getitem__(self, key: K) -> V:
        changed = self._changed
        if key not in changed:
            return self._base[key]
        value = changed[key]
        if value is _GONE:
            raise KeyError(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        if key not in self:
            self._size += 1
        self._changed.pop(key, None)
        self._changed[key] = value

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._size -= 1
        self._changed[key] = _GONE

    def __contains__(self, key: object) -> bool:
        changed = self._changed
        return changed[key] is not _GONE if key in changed else key in self._base

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[K]:
        changed = self._changed
        for key in self._base:
            if key not in changed:
                yield key
        for key, value in changed.items():
            if value is not _GONE:
                yield key


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
        self.names = InUse(Overlay(group.names.counts))
        self.used_regexes = InUse(Overlay(group.used_regexes.counts))
        self.timeouts = Timeouts()
        self.seen_revision = group.seen_revision
        self.changes: list[GroupChange] = []

    def change(self, change: GroupChange) -> None:
        self.apply(change)
        self.changes.append(change)

    def decision(self, response: object = None) -> Decision:
        return Decision(self.changes, response=response)
