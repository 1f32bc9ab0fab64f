"""Reconciliation: one member's way from what it has to what it is to have.

    STABLE                  it has all of the target it was last led to
    UNREVOKED_PARTITIONS    it has to give something up, and stays in its epoch until it says that
                            it did
    UNRELEASED_PARTITIONS   it is in the target's epoch and waits for what others still have

A partition is assigned to a member only when it is free, and belongs to the member until it says
that it gave it up: so no partition ever has two owners.
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
    """The member's next step, or its current one when it cannot go on.

    `owned` is what the member says it has, if it says so in this request; `subscribed` are the
    ids of the topics it wants: of others it is to have nothing, whatever the target says.
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
    kept = common_partitions(current.assigned, target)
    revoking = without_partitions(current.assigned, kept)
    if revoking and _still_owns(owned, revoking):
        return current.at_epoch(current.epoch)._replace(
            state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, revoking=revoking
        )
    missing = without_partitions(target, kept)
    free = {
        topic_id: frozenset(one for one in ones if not owned_by_another(topic_id, one))
        for topic_id, ones in missing.items()
    }
    free = {topic_id: ones for topic_id, ones in free.items() if ones}
    waits = bool(without_partitions(missing, free))
    return current.at_epoch(target_epoch)._replace(
        state=MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE,
        assigned=all_partitions(kept, free),
        revoking={},
    )


def _without_unsubscribed(
    current: CurrentAssignment, subscribed: Collection[bytes], owned: Partitions | None
) -> CurrentAssignment:
    """Cheaper than the whole way: only takes from it what it does not want any more."""
    kept = _of_topics(current.assigned, subscribed)
    if len(kept) == len(current.assigned):
        return current
    revoking = all_partitions(current.revoking, without_partitions(current.assigned, kept))
    if not _still_owns(owned, revoking):
        return current.at_epoch(current.epoch)._replace(assigned=kept)
    return current.at_epoch(current.epoch)._replace(
        state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, revoking=revoking
    )


def _of_topics(partitions: Partitions, topic_ids: Collection[bytes]) -> Partitions:
    return {topic_id: ones for topic_id, ones in partitions.items() if topic_id in topic_ids}


def _still_owns(owned: Partitions | None, revoking: Partitions) -> bool:
    """A member that does not say what it has still has it."""
    return owned is None or holds_any(owned, revoking)
