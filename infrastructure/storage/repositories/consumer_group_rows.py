"""The rows of a consumer group, in the order in which they are applied.

e  group epoch               [epoch, hash of the topics]
m  member, by id             who it is and what it wants
t  target epoch              epoch
u  target, by member id      {topic id: [partition, ...]}
v  assignment, by member id  [state, epoch, previous epoch, {has}, {is to give up}]
x  regex, by its text        [topic, ...]

A member that goes one step further changes one row.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from functools import lru_cache
from typing import Any

from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.changes import (
    AssignmentChanged,
    EpochChanged,
    MemberChanged,
    RegexResolved,
    TargetChanged,
    TargetEpochChanged,
)
from domain.groups.consumer.member import (
    ClassicMembership,
    CurrentAssignment,
    MemberState,
    MemberSubscription,
)
from infrastructure.storage.repositories.group_row import RowKind


@lru_cache(maxsize=1)
def _in_order(names: frozenset[str]) -> list[str]:
    """When a topic comes, many expressions may mean the same thousands, one after the other."""
    return sorted(names)


def _encode_partitions(partitions: Partitions) -> dict[str, list[int]]:
    return {topic_id.hex(): sorted(ones) for topic_id, ones in partitions.items()}


def _decode_partitions(values: dict[str, list[int]]) -> Partitions:
    return {bytes.fromhex(topic_id): frozenset(ones) for topic_id, ones in values.items()}


def _encode_member(member: MemberSubscription) -> list[Any]:
    classic = member.classic
    return [
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.server_assignor,
        sorted(member.topics),
        member.regex,
        None
        if classic is None
        else [
            classic.session_timeout_ms,
            [[name, b64encode(metadata).decode()] for name, metadata in classic.protocols],
        ],
    ]


def _decode_member(member_id: str, values: list[Any]) -> MemberSubscription:
    instance_id, rack_id, client_id, client_host, timeout_ms, assignor, topics, regex, classic = (
        values
    )
    membership = None
    if classic is not None:
        session_timeout_ms, protocols = classic
        membership = ClassicMembership(
            session_timeout_ms, tuple((name, b64decode(metadata)) for name, metadata in protocols)
        )
    return MemberSubscription(
        member_id,
        instance_id,
        rack_id,
        client_id,
        client_host,
        timeout_ms,
        assignor,
        frozenset(topics),
        regex,
        membership,
    )


def _encode_assignment(current: CurrentAssignment) -> list[Any]:
    return [
        current.state.value,
        current.epoch,
        current.previous_epoch,
        _encode_partitions(current.assigned),
        _encode_partitions(current.revoking),
    ]


def _decode_assignment(values: list[Any]) -> CurrentAssignment:
    state, epoch, previous_epoch, assigned, revoking = values
    return CurrentAssignment(
        MemberState(state),
        epoch,
        previous_epoch,
        _decode_partitions(assigned),
        _decode_partitions(revoking),
    )


CONSUMER_ROWS = (
    RowKind(
        b"e",
        EpochChanged,
        lambda change: "",
        lambda change: None if change.epoch is None else [change.epoch, change.topics_hash],
        lambda group_id, name, values: EpochChanged(group_id, *values),
    ),
    RowKind(
        b"m",
        MemberChanged,
        lambda change: change.member_id,
        lambda change: change.subscription and _encode_member(change.subscription),
        lambda group_id, name, values: MemberChanged(group_id, name, _decode_member(name, values)),
    ),
    RowKind(
        b"t",
        TargetEpochChanged,
        lambda change: "",
        lambda change: change.epoch,
        lambda group_id, name, values: TargetEpochChanged(group_id, values),
    ),
    RowKind(
        b"u",
        TargetChanged,
        lambda change: change.member_id,
        lambda change: None if change.partitions is None else _encode_partitions(change.partitions),
        lambda group_id, name, values: TargetChanged(group_id, name, _decode_partitions(values)),
    ),
    RowKind(
        b"v",
        AssignmentChanged,
        lambda change: change.member_id,
        lambda change: change.current and _encode_assignment(change.current),
        lambda group_id, name, values: AssignmentChanged(
            group_id, name, _decode_assignment(values)
        ),
    ),
    RowKind(
        b"x",
        RegexResolved,
        lambda change: change.regex,
        lambda change: None if change.names is None else _in_order(change.names),
        lambda group_id, name, values: RegexResolved(group_id, name, frozenset(values)),
    ),
)
