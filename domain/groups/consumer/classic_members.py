"""Members of the classic protocol in a consumer group, until all have been upgraded.

JoinGroup is one step of reconciliation, and the member's epoch is the generation in its response;
SyncGroup returns its assignment; Heartbeat requests another JoinGroup when there is a step to take.
They have no leader, because the broker assigns.
"""

from __future__ import annotations

from collections.abc import Sequence

from domain.errors import (
    BrokerError,
    IllegalGeneration,
    InconsistentGroupProtocol,
    MemberIdRequired,
    RebalanceInProgress,
    UnknownMemberId,
)
from domain.groups.classic.changes import JoinResponse, Now
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.sync import SyncRequest
from domain.groups.consumer.conversion import (
    can_downgrade,
    downgrade,
    partitions_by_id,
    remove_members,
)
from domain.groups.consumer.draft import Draft
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.heartbeat import (
    GroupContext,
    check_group_size,
    check_instance,
    reconcile_member,
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
from domain.groups.consumer.subscription import Topics
from domain.groups.consumer.target import GroupRules, update_target
from domain.groups.embedded_protocol import (
    CONSUMER,
    EmbeddedSubscription,
    Unreadable,
    read_subscription,
)
from domain.groups.group import Decision


def join(
    group: ConsumerGroup, request: JoinRequest, new_id: str, context: GroupContext, now: Now
) -> Decision:
    """`new_id`: for a member that has none."""
    check_group_size(group, request.member_id, context.rules)
    if not _supports(group, request):
        raise InconsistentGroupProtocol(
            f"Member {request.member_id}'s protocols are not supported."
        )
    if not request.member_id and request.instance_id is None and request.joins_twice:
        return Decision(response=JoinResponse(new_id, MemberIdRequired()))
    try:
        subscription = read_subscription(request.protocols[0][1])
    except Unreadable as damage:
        raise InconsistentGroupProtocol("The embedded consumer protocol is malformed.") from damage
    member_id = request.member_id or new_id
    before = group.static_member(request.instance_id)
    draft = Draft(group)
    changed = _subscribe(draft, request, member_id, subscription, context)
    # A static member may return with the classic protocol, as the last of the other one.
    was_last = before is not None and before.classic is None
    if was_last and can_downgrade(draft, (), context.rules):
        if not changed:
            _assign(draft, member_id, subscription, changed, context)
        decision = downgrade(group, draft, (), context.topics, now, rebalances=changed)
    else:
        _assign(draft, member_id, subscription, changed, context)
        decision = draft.decision()
    epoch = draft.current(member_id).epoch
    response = JoinResponse(member_id, None, epoch, CONSUMER, request.protocols[0][0])
    return decision._replace(response=response)


def _supports(group: ConsumerGroup, request: JoinRequest) -> bool:
    """Whether it has a protocol that all other members of the classic protocol have too."""
    if request.protocol_type != CONSUMER or not request.protocols:
        return False
    others = [one.classic for one in group.members.values() if one.classic is not None]
    known = [{name for name, _ in one.protocols} for one in others]
    return any(all(name in names for names in known) for name, _ in request.protocols)


def _subscribe(
    draft: Draft,
    request: JoinRequest,
    member_id: str,
    subscription: EmbeddedSubscription,
    context: GroupContext,
) -> bool:
    """Whether its member subscribes to other topics than before."""
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
    update = update_member(draft, member, updated, context)
    update_epoch(draft, update.names, context)
    return update.anything


def _assign(
    draft: Draft,
    member_id: str,
    subscription: EmbeddedSubscription,
    changed: bool,
    context: GroupContext,
) -> None:
    if draft.epoch > draft.target_epoch:
        update_target(draft, context.topics, context.rules)
    owned = partitions_by_id(subscription.owned, context.topics)
    reconcile_member(draft, member_id, owned, changed, context.topics)


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


def leave(
    group: ConsumerGroup,
    leaving: Sequence[LeavingMember],
    topics: Topics,
    rules: GroupRules,
    now: Now,
) -> Decision:
    """Its response: an error or None for each member that is to leave."""
    gone: dict[str, None] = {}
    results: list[BrokerError | None] = []
    for one in leaving:
        try:
            gone[_leaving(group, one).member_id] = None
            results.append(None)
        except BrokerError as refusal:
            results.append(refusal.as_value())
    decision = remove_members(group, gone, topics, rules, now) if gone else Decision()
    return decision._replace(response=results)


def _leaving(group: ConsumerGroup, leaving: LeavingMember) -> MemberSubscription:
    """Also one of the consumer protocol; an admin names static members by their instance alone."""
    if leaving.instance_id is None:
        return group.member(leaving.member_id)
    member = group.static_member(leaving.instance_id)
    if member is None:
        raise UnknownMemberId(f"Instance id {leaving.instance_id} is unknown.")
    if leaving.member_id:
        check_instance(member, leaving.member_id)
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
