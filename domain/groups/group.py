"""Group: what both kinds of groups are to those who do not care which kind it is.

    classic     the clients agree among themselves, the broker counts generations   classic/
    consumer    the broker assigns partitions, each member has an epoch (KIP-848)   consumer/

A group decides and applies apart: what decides returns changes (GroupChange) and answers and
changes nothing; `apply` is the only way in which a group changes, at work as at start-up, when the
changes that were kept are applied again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import ClassVar

#: What is committed without being a member of any generation or epoch.
NO_EPOCH = -1


class GroupKind(Enum):
    """As clients see it in ListGroups."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


class GroupChange:
    """A fact about a group, as a value. Whether and how it is kept is the repository's business."""

    #: Of the group that such changes are applied to.
    kind: ClassVar[GroupKind]

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class GroupDeleted:
    """Nothing of it is left: follows the changes that take away all that was kept of it."""

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


Changes = list[GroupChange | GroupDeleted]


class Group(ABC):
    """Refusals are raised: they concern the whole of what somebody asks of this group."""

    __slots__ = ("group_id",)

    kind: GroupKind

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id

    @abstractmethod
    def apply(self, change: GroupChange) -> None: ...

    @property
    @abstractmethod
    def state_name(self) -> str:
        """As ListGroups and the describing APIs print it: Stable, Empty, ..."""

    @property
    @abstractmethod
    def protocol_type(self) -> str:
        """`consumer` for consumers, what else the members said, or nothing for a simple group."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether nobody is a member."""

    @abstractmethod
    def check_commit(
        self, member_id: str, instance_id: str | None, epoch: int, knows_epochs: bool
    ) -> None:
        """Whether this member may commit offsets now.

        `epoch` is its generation in a classic group; `knows_epochs`: the request is of a version
        that can be told of stale epochs.
        """

    @abstractmethod
    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Whether this member may read committed offsets; most who do are no members."""

    @abstractmethod
    def heard_from(self, member_id: str, now_ms: int) -> None:
        """A commit is as good as a heartbeat, where it is in Kafka."""

    @abstractmethod
    def check_delete(self) -> None:
        """Whether the group may be deleted now."""

    @abstractmethod
    def deletion(self) -> list[GroupChange]:
        """The changes that take away all that is kept of it."""

    @abstractmethod
    def subscribes(self, topic: str) -> bool:
        """Whether a member may be reading it: its offsets are neither deleted nor expire."""

    @abstractmethod
    def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
        """The moment from which an offset's retention counts; None: it does not expire now."""
