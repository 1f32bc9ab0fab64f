"""Changes of a consumer group, as values: each replaces a row of the store.

None deletes the row.
"""

from __future__ import annotations

from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.member import CurrentAssignment, MemberSubscription
from domain.groups.group import GroupChange, GroupKind


class ConsumerGroupChange(GroupChange):
    kind = GroupKind.CONSUMER

    __slots__ = ()

    def _values(self) -> list[object]:
        return [getattr(self, name) for name in ("group_id", *type(self).__slots__)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._values()))})"


class EpochChanged(ConsumerGroupChange):
    """Members, subscriptions or topics changed: a new target assignment is needed."""

    __slots__ = ("epoch", "topics_hash")

    def __init__(self, group_id: str, epoch: int | None, topics_hash: str = "") -> None:
        super().__init__(group_id)
        self.epoch = epoch
        self.topics_hash = topics_hash


class MemberChanged(ConsumerGroupChange):
    __slots__ = ("member_id", "subscription")

    def __init__(
        self, group_id: str, member_id: str, subscription: MemberSubscription | None
    ) -> None:
        super().__init__(group_id)
        self.member_id = member_id
        self.subscription = subscription


class TargetEpochChanged(ConsumerGroupChange):
    """The group epoch of the target assignment."""

    __slots__ = ("epoch",)

    def __init__(self, group_id: str, epoch: int | None) -> None:
        super().__init__(group_id)
        self.epoch = epoch


class TargetChanged(ConsumerGroupChange):
    """The target assignment of a member."""

    __slots__ = ("member_id", "partitions")

    def __init__(self, group_id: str, member_id: str, partitions: Partitions | None) -> None:
        super().__init__(group_id)
        self.member_id = member_id
        self.partitions = partitions


class AssignmentChanged(ConsumerGroupChange):
    """The current assignment of a member."""

    __slots__ = ("current", "member_id")

    def __init__(self, group_id: str, member_id: str, current: CurrentAssignment | None) -> None:
        super().__init__(group_id)
        self.member_id = member_id
        self.current = current


class RegexResolved(ConsumerGroupChange):
    __slots__ = ("names", "regex")

    def __init__(self, group_id: str, regex: str, names: frozenset[str] | None) -> None:
        super().__init__(group_id)
        self.regex = regex
        self.names = names
