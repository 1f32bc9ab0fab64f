"""Reconciliation: the steps of a member from its current to its target assignment.

    STABLE                  it has the target assignment of its epoch
    UNREVOKED_PARTITIONS    it must revoke partitions, and stays in its epoch until it confirms
    UNRELEASED_PARTITIONS   it is in the target epoch, and waits for partitions of other members

A partition is assigned only when it is free, and belongs to its member until the member confirms
the revocation: so no partition ever has two owners.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.member import (
    CurrentAssignment,
    MemberState,
    all_partitions,
    common_partitions,
    holds_any,
    without_partitions,
)

#: Whether another member owns this partition of this topic.
OwnedByAnother = Callable[[bytes, int], bool]


def reconcile(
    current: CurrentAssignment,
    target_epoch: int,
    target: Partitions,
    subscribed: Collection[bytes],
    owned: Partitions | None,
    owned_by_another: OwnedByAnother,
    subscription_changed: bool,
) -> CurrentAssignment:
    """The next assignment of the member, or the current one if it has to wait.

    `owned` are the partitions of the request, if it has them; `subscribed` are the ids of the
    subscribed topics: partitions of others are revoked, whatever the target is.
    """
    if current.state is MemberState.STABLE and current.epoch == target_epoch:
        if subscription_changed:
            return _without_unsubscribed(current, subscribed, owned)
        return current
    if current.state is MemberState.UNREVOKED_PARTITIONS and _still_owns(owned, current.revoking):
        if subscription_changed:
            return _without_unsubscribed(current, subscribed, owned)
        return current
    return _next(current, target_epoch, _of_topics(target, subscribed), owned, owned_by_another)


def _next(
    current: CurrentAssignment,
    target_epoch: int,
    target: Partitions,
    owned: Partitions | None,
    owned_by_another: OwnedByAnother,
) -> CurrentAssignment:
    retained = common_partitions(current.assigned, target)
    revoking = without_partitions(current.assigned, retained)
    if revoking and _still_owns(owned, revoking):
        return current.at_epoch(current.epoch)._replace(
            state=MemberState.UNREVOKED_PARTITIONS, assigned=retained, revoking=revoking
        )
    missing = without_partitions(target, retained)
    free = {
        topic_id: frozenset(one for one in ones if not owned_by_another(topic_id, one))
        for topic_id, ones in missing.items()
    }
    free = {topic_id: ones for topic_id, ones in free.items() if ones}
    waits = bool(without_partitions(missing, free))
    return current.at_epoch(target_epoch)._replace(
        state=MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE,
        assigned=all_partitions(retained, free),
        revoking={},
    )


def _without_unsubscribed(
    current: CurrentAssignment, subscribed: Collection[bytes], owned: Partitions | None
) -> CurrentAssignment:
    """Revokes partitions of topics that are no longer subscribed."""
    retained = _of_topics(current.assigned, subscribed)
    if len(retained) == len(current.assigned):
        return current
    revoking = all_partitions(current.revoking, without_partitions(current.assigned, retained))
    if not _still_owns(owned, revoking):
        return current.at_epoch(current.epoch)._replace(assigned=retained)
    return current.at_epoch(current.epoch)._replace(
        state=MemberState.UNREVOKED_PARTITIONS, assigned=retained, revoking=revoking
    )


def _of_topics(partitions: Partitions, topic_ids: Collection[bytes]) -> Partitions:
    return {topic_id: ones for topic_id, ones in partitions.items() if topic_id in topic_ids}


def _still_owns(owned: Partitions | None, revoking: Partitions) -> bool:
    """Without a list of owned partitions the member still owns all."""
    return owned is None or holds_any(owned, revoking)
