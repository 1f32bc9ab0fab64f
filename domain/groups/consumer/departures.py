"""Why a consumer group begins another epoch, in a few words, and which members were removed.

It reads the group as it is before the changes are applied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from domain.groups.classic.changes import GroupMetadataChanged
from domain.groups.consumer.changes import MemberChanged
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import MemberSubscription
from domain.groups.consumer.timeouts import Timeout
from domain.groups.group import Changes, Departed, Departure

#: What was not done in time.
_WHY = {
    Timeout.SESSION: Departure.SILENT,
    Timeout.REVOCATION: Departure.DID_NOT_REVOKE,
    Timeout.JOIN: Departure.DID_NOT_REJOIN,
    Timeout.SYNC: Departure.DID_NOT_SYNC,
}


def of_consumer(
    group: ConsumerGroup | None,
    changes: Changes,
    now_ms: int,
    session_timeout_ms: Callable[[], int],
) -> tuple[Counter[str], Sequence[Departed], int]:
    """With how many members it has then."""
    before = {} if group is None else group.members
    after: dict[str, MemberSubscription | None] = {}
    for change in changes:
        if isinstance(change, MemberChanged):
            after[change.member_id] = change.subscription
        elif isinstance(change, GroupMetadataChanged) and change.image is not None:
            # As a classic group it has these left.
            for image in change.image.members:
                after.pop(image.member_id, None)
    gone = {one: before[one] for one in after if after[one] is None and one in before}
    instances = {one.instance_id for one in gone.values() if one.instance_id is not None}
    reasons: Counter[str] = Counter()
    came = 0
    for member_id, subscription in after.items():
        if subscription is None:
            continue
        known = before.get(member_id)
        if known is None:
            came += 1
            returns = subscription.instance_id in instances
            reasons["came back" if returns else "came"] += 1
            instances.discard(subscription.instance_id)
        elif (known.topics, known.regex) != (subscription.topics, subscription.regex):
            reasons["wants other topics"] += 1
    returned = {one.instance_id for one in after.values() if one is not None and one.instance_id}
    departed: list[Departed] = []
    for member in gone.values():
        if member.instance_id in returned:
            continue
        overdue = None if group is None else group.timeouts.overdue(member.member_id, now_ms)
        why = Departure.LEFT if overdue is None else _WHY[overdue]
        reasons[why.value] += 1
        if overdue is not None:
            after_ms = member.rebalance_timeout_ms
            if overdue is Timeout.SESSION:
                classic = member.classic
                after_ms = session_timeout_ms() if classic is None else classic.session_timeout_ms
            departed.append(
                Departed(member.member_id, member.client_id, member.client_host, why, after_ms)
            )
    return reasons, departed, len(before) + came - len(gone)
