"""A group whose state tests set, and short builders of committed offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from application.state.runtime import ignore
from application.topics.create import NewTopic
from domain.cluster.nodes import Leader
from domain.errors import BrokerError
from domain.groups.group import Group, GroupChange, GroupDeleted, GroupKind, GroupMember
from domain.groups.offsets import CommittedOffset
from domain.topics.topic import OFFSETS_TOPIC, Topic
from tests.fakes.broker import FakeBroker

A_TOPIC_ID = bytes(15) + b"\1"


def coordinate_on(fake: FakeBroker, node_id: int) -> None:
    """This node coordinates all groups."""
    topic = fake.broker.catalog.topic(OFFSETS_TOPIC)
    if topic is None:
        new = NewTopic(OFFSETS_TOPIC, 3)
        fake.core.cluster_changes.check()
        topic = fake.broker.topics.create_topics.create_internal(new)
        fake.scheduler.run_pass()
    for partition_id in topic.partition_ids:
        fake.placement.move(partition_id, Leader(node_id, 1))


class FakeGroup(Group):
    """Refuses requests with `refusal`."""

    __slots__ = ("expires_from", "kind", "members", "refusal", "renewals", "topics", "type")

    def __init__(self, group_id: str, kind: GroupKind = GroupKind.CLASSIC) -> None:
        super().__init__(group_id)
        self.kind = kind
        self.members: dict[str, Any] = {}
        self.type = "consumer"
        self.topics: set[str] = set()
        self.refusal: BrokerError | None = None
        self.renewals: list[tuple[str, int]] = []
        self.expires_from: int | None = None

    def apply(self, change: GroupChange) -> None:
        assert isinstance(change, GroupDeleted), "nothing else changes it"

    @property
    def state_name(self) -> str:
        return "Empty" if self.is_empty else "Stable"

    @property
    def protocol_type(self) -> str:
        return self.type

    @property
    def is_empty(self) -> bool:
        return not self.members

    def assignor(self, allowed: Sequence[str]) -> str:
        return ""

    def assigned_members(
        self, topic_by_id: Callable[[bytes], Topic | None]
    ) -> Iterator[GroupMember]:
        return iter(())

    def _refuse(self) -> None:
        if self.refusal is not None:
            raise self.refusal

    def check_commit(
        self, member_id: str, instance_id: str | None, epoch: int, knows_epochs: bool
    ) -> None:
        self._refuse()

    def check_transactional_commit(
        self, member_id: str, instance_id: str | None, epoch: int
    ) -> None:
        self._refuse()

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        self._refuse()

    def renew_session(self, member_id: str, now_ms: int) -> None:
        self.renewals.append((member_id, now_ms))

    def responded_late(self, member_id: str, now_ms: int) -> None:
        self.renew_session(member_id, now_ms)

    def check_delete(self) -> None:
        self._refuse()

    def deletion(self) -> list[GroupChange]:
        return [GroupDeleted(self.group_id)]

    def subscribes(self, topic: str) -> bool:
        return topic in self.topics

    def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
        return None if self.subscribes(topic) else self.expires_from


def committed(
    offset: int = 7,
    metadata: str = "",
    topic_id: bytes = A_TOPIC_ID,
    at_ms: int = 1000,
    expires_ms: int | None = None,
    leader_epoch: int = -1,
) -> CommittedOffset:
    return CommittedOffset(offset, leader_epoch, metadata, at_ms, expires_ms, topic_id)


def persist_offsets(
    fake: FakeBroker,
    group_id: str,
    topic: str,
    *partitions: int,
    offset: int = 7,
    expires_ms: int | None = None,
) -> None:
    """Stages a commit at the fake's time, without the checks of the group."""
    topic_id, now_ms = fake.existing(topic).topic_id, fake.clock.now_ms()
    one = committed(offset, topic_id=topic_id, at_ms=now_ms, expires_ms=expires_ms)
    writes = [(group_id, topic, partition, one) for partition in partitions]
    fake.broker.groups.offsets.persist(group_id, writes, ignore)


def stored_offsets(fake: FakeBroker) -> int:
    """The number of rows in the store."""
    return len(fake.store.tables.get("offsets", {}))
