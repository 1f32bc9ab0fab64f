"""Faults of groups: early responses, lost state, two owners, wrong expiry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.groups.classic_protocol import ClassicProtocol
from application.groups.deadlines import Deadlines
from application.groups.decisions import Decisions
from application.groups.delete import DeleteGroupsService
from application.groups.offsets import Offsets
from application.groups.offsets_topic import OffsetsTopic
from application.groups.registry import Groups
from application.ports.pending import resolved
from domain.errors import BrokerError
from domain.groups.classic import rebalance
from domain.groups.classic.changes import GroupMetadataChanged
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer import heartbeat
from domain.groups.consumer.changes import AssignmentChanged, EpochChanged, TargetEpochChanged
from domain.groups.consumer.group import ConsumerGroup
from infrastructure.storage.repositories.group_repository import StoredGroupRepository

Patch = pytest.MonkeyPatch


# ---- offsets


def offset_is_acknowledged_before_its_commit(patch: Patch) -> None:
    persist = Offsets.persist

    def hasty(self: Offsets, group_id: str, writes: Any, then: Any) -> None:
        persist(self, group_id, writes, lambda failure: None)
        then(None)

    patch.setattr(Offsets, "persist", hasty)


def offset_is_visible_before_its_commit(patch: Patch) -> None:
    persist = Offsets.persist

    def hasty(self: Offsets, group_id: str, writes: Any, then: Any) -> None:
        persist(self, group_id, writes, then)
        self._apply(writes)

    patch.setattr(Offsets, "persist", hasty)


def persisted_offset_is_not_visible(patch: Patch) -> None:
    patch.setattr(Offsets, "_put", lambda self, group_id, topic, partition, committed: None)


def offsets_of_a_deleted_group_come_back(patch: Patch) -> None:
    """Removed from memory, but not from the store."""

    def remove(self: DeleteGroupsService, group: Any, reason: str) -> None:
        group_id = group.group_id
        for topic, partition in list(self._offsets.partitions(group_id)):
            self._offsets._remove(group_id, topic, partition)
        self._groups.apply(group_id, group.deletion())

    patch.setattr(DeleteGroupsService, "remove", remove)


def offsets_of_a_topic_outlive_it(patch: Patch) -> None:
    patch.setattr(Offsets, "forget", lambda self, topics: [])


def offsets_of_a_live_group_expire(patch: Patch) -> None:
    for kind in (ClassicGroup, ConsumerGroup):
        patch.setattr(kind, "offsets_expire_from", lambda self, topic, committed_ms: committed_ms)


# ---- persisted state of groups


def _without_saving(patch: Patch, *kinds: type) -> None:
    save = StoredGroupRepository.save

    def forgetful(self: StoredGroupRepository, change: Any) -> None:
        if not isinstance(change, kinds):
            save(self, change)

    patch.setattr(StoredGroupRepository, "save", forgetful)


def generation_is_not_persisted(patch: Patch) -> None:
    _without_saving(patch, GroupMetadataChanged)


def epoch_is_not_persisted(patch: Patch) -> None:
    _without_saving(patch, EpochChanged, TargetEpochChanged, AssignmentChanged)


def join_response_before_its_commit(patch: Patch) -> None:
    def hasty(self: Decisions, group_id: str, responses: Any) -> None:
        self._resolve(group_id, responses)

    patch.setattr(Decisions, "respond", hasty)


def assignment_response_before_its_commit(patch: Patch) -> None:
    def hasty(self: Decisions, group_id: str, value: Any, member_id: str = "") -> Any:
        return resolved(value)

    patch.setattr(Decisions, "response", hasty)


def group_is_not_reloaded_after_a_failed_commit(patch: Patch) -> None:
    patch.setattr(Groups, "lost", lambda self, group_id, changes, first: None)


def pending_requests_do_not_fail(patch: Patch) -> None:
    patch.setattr(Decisions, "fail", lambda self, group_id, error: None)


# ---- members


def timeouts_never_expire(patch: Patch) -> None:
    patch.setattr(Deadlines, "_fire", lambda self, group_id, timer: None)


def restart_removes_all_members(patch: Patch) -> None:
    restored = ClassicProtocol.restored

    def careless(self: ClassicProtocol, group: ClassicGroup) -> None:
        for member in group.members.values():
            member.session_timeout_ms = 1
        restored(self, group)

    patch.setattr(ClassicProtocol, "restored", careless)


def fenced_member_is_accepted(patch: Patch) -> None:
    heartbeat = ClassicProtocol.heartbeat

    def trusting(self: ClassicProtocol, *what: Any) -> Any:
        try:
            return heartbeat(self, *what)
        except BrokerError:
            return None

    patch.setattr(ClassicProtocol, "heartbeat", trusting)


def commit_of_an_old_generation_is_accepted(patch: Patch) -> None:
    patch.setattr(ClassicGroup, "check_commit", lambda self, *who: None)


def generation_has_two_leaders(patch: Patch) -> None:
    inner = rebalance.members_for_leader

    def everybody(members: Any, protocol_name: Any) -> Any:
        return tuple(inner(list(members)[:1], protocol_name))

    patch.setattr(rebalance, "members_for_leader", everybody)


def partition_is_assigned_before_it_is_free(patch: Patch) -> None:
    patch.setattr(ConsumerGroup, "owner", lambda self, topic_id, partition: None)


def revocation_is_not_requested(patch: Patch) -> None:
    beat = heartbeat.beat

    def silent(draft: Any, heartbeat: Any, context: Any) -> Any:
        decision = beat(draft, heartbeat, context)
        response = decision.response
        gives_up = bool(draft.current(response.member_id).revoking)
        return (
            decision._replace(response=response._replace(assignment=None)) if gives_up else decision
        )

    patch.setattr("application.groups.consumer_protocol.beat", silent)


def deleted_offset_has_no_tombstone(patch: Patch) -> None:
    append = OffsetsTopic.append_offsets
    patch.setattr(
        OffsetsTopic,
        "append_offsets",
        lambda self, writes: append(self, [one for one in writes if one[3] is not None]),
    )


GROUPS: list[Callable[[Patch], None]] = [
    offset_is_acknowledged_before_its_commit,
    offset_is_visible_before_its_commit,
    persisted_offset_is_not_visible,
    offsets_of_a_deleted_group_come_back,
    offsets_of_a_topic_outlive_it,
    offsets_of_a_live_group_expire,
    deleted_offset_has_no_tombstone,
    generation_is_not_persisted,
    epoch_is_not_persisted,
    join_response_before_its_commit,
    assignment_response_before_its_commit,
    group_is_not_reloaded_after_a_failed_commit,
    pending_requests_do_not_fail,
    timeouts_never_expire,
    restart_removes_all_members,
    fenced_member_is_accepted,
    commit_of_an_old_generation_is_accepted,
    generation_has_two_leaders,
    partition_is_assigned_before_it_is_free,
    revocation_is_not_requested,
]
