"""Members of the classic protocol in a consumer group, until all have been upgraded.

JoinGroup is one step of reconciliation, and the member's epoch is the generation it is told;
SyncGroup tells it what it has; Heartbeat tells it to join again when there is a step to take. There
is no leader among them, because the broker assigns.
"""

from __future__ import annotations

from domain.errors import (
    IllegalGeneration,
    InconsistentGroupProtocol,
    RebalanceInProgress,
    UnknownMemberId,
)
from domain.groups.classic.changes import JoinResponse
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.sync import SyncRequest
from domain.groups.consumer.group import ConsumerGroup, Draft
from domain.groups.consumer.heartbeat import (
    Surroundings,
    check_instance,
    check_room,
    lead_on,
    static_member_joining,
    static_member_known,
    update_epoch,
    update_member,
)
from domain.groups.consumer.member import (
    ClassicMembership,
    MemberState,
    MemberSubscription,
    without_partitions,
)
from domain.groups.consumer.target import update_target
from domain.groups.consumer_protocol import CONSUMER
from domain.groups.conversion import partitions_by_id
from domain.groups.embedded_protocol import EmbeddedSubscription, Unreadable, read_subscription


def check_join(
    group: ConsumerGroup, request: JoinRequest, around: Surroundings
) -> EmbeddedSubscription | None:
    """What the member wants; None: it is to be given an id first, and joins again with it."""
    check_room(group, request.member_id, around.rules)
    if not _supports(group, request):
        raise InconsistentGroupProtocol(
            f"Member {request.member_id}'s protocols are not supported."
        )
    if not request.member_id and request.instance_id is None and request.joins_twice:
        return None
    try:
        return read_subscription(request.protocols[0][1])
    except Unreadable as damage:
        raise InconsistentGroupProtocol("The embedded consumer protocol is malformed.") from damage


def _supports(group: ConsumerGroup, request: JoinRequest) -> bool:
    """Whether it has a protocol that all other members of the classic protocol have too."""
    if request.protocol_type != CONSUMER or not request.protocols:
        return False
    others = [one.classic for one in group.members.values() if one.classic is not None]
    known = [{name for name, _ in one.protocols} for one in others]
    return any(all(name in names for names in known) for name, _ in request.protocols)


def join(
    draft: Draft,
    request: JoinRequest,
    member_id: str,
    subscription: EmbeddedSubscription,
    around: Surroundings,
) -> bool:
    """Takes its member a step further, but for its assignment; whether it wants other topics.

    `member_id` is the request's, or a new one where that has none.
    """
    member = _member_of(draft, request, member_id)
    updated = member._replace(
        instance_id=request.instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topics=subscription.topics,
        regex="",
        classic=ClassicMembership(request.session_timeout_ms, request.protocols),
    )
    wish = update_member(draft, member, updated, around)
    update_epoch(draft, int(wish.changed), around)
    return wish.other


def assign(
    draft: Draft,
    member_id: str,
    subscription: EmbeddedSubscription,
    changed: bool,
    around: Surroundings,
) -> None:
    if draft.epoch > draft.target_epoch:
        update_target(draft, around.topics, around.rules)
    owned = partitions_by_id(subscription.owned, around.topics)
    lead_on(draft, member_id, owned, changed, around.topics)


def join_answer(group: ConsumerGroup, request: JoinRequest, member_id: str) -> JoinResponse:
    epoch = group.current(member_id).epoch
    return JoinResponse(member_id, None, epoch, CONSUMER, request.protocols[0][0])


def _member_of(draft: Draft, request: JoinRequest, member_id: str) -> MemberSubscription:
    if request.instance_id is None:
        return draft.members.get(member_id) or MemberSubscription(member_id)
    if not request.member_id:
        return static_member_joining(draft, member_id, request.instance_id, in_classic=True)
    return static_member_known(draft, member_id, request.instance_id)


def classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation_id: int
) -> tuple[MemberSubscription, ClassicMembership]:
    """A member in good order, which may have to join again all the same."""
    member = _known(group, member_id, instance_id)
    if member.classic is None:
        raise UnknownMemberId(f"Member {member_id} does not use the classic protocol.")
    epoch = group.current(member_id).epoch
    if epoch != generation_id:
        raise IllegalGeneration(
            f"The request generation id {generation_id} is not equal to the member epoch {epoch} "
            f"of member {member_id}."
        )
    return member, member.classic


def _known(group: ConsumerGroup, member_id: str, instance_id: str | None) -> MemberSubscription:
    if instance_id is None:
        return group.member(member_id)
    member = group.static_member(instance_id)
    if member is None:
        raise UnknownMemberId(
            f"Member with instance id {instance_id} is not a member of group {group.group_id}."
        )
    check_instance(member, member_id)
    return member


def leaving_classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> MemberSubscription:
    """Also one of the consumer protocol; an admin names static members by their instance alone."""
    if instance_id is None:
        return group.member(member_id)
    member = group.static_member(instance_id)
    if member is None:
        raise UnknownMemberId(f"Instance id {instance_id} is unknown.")
    if member_id:
        check_instance(member, member_id)
    return member


def check_sync(group: ConsumerGroup, classic: ClassicMembership, request: SyncRequest) -> None:
    name = classic.protocols[0][0]
    if request.protocol_type not in (None, CONSUMER) or request.protocol_name not in (None, name):
        raise InconsistentGroupProtocol()
    current = group.current(request.member_id)
    revokes = current.state is MemberState.UNREVOKED_PARTITIONS
    if group.epoch > current.epoch and not revokes:
        raise RebalanceInProgress()


def must_join_again(group: ConsumerGroup, member_id: str) -> bool:
    """There is a step to take: to the newest epoch, to give up, or to get what became free."""
    current = group.current(member_id)
    if current.epoch < group.epoch or current.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    if current.state is MemberState.STABLE:
        return False
    missing = without_partitions(group.target(member_id), current.assigned)
    return all(
        group.owner(topic_id, one) is None for topic_id, ones in missing.items() for one in ones
    )
