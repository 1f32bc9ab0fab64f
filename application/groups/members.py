"""Who is in a group and has which partitions: the same for groups of both protocols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from application.topics.catalog import Catalog
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.states import State
from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer_protocol import CONSUMER
from domain.groups.embedded_protocol import Unreadable, read_assignment
from domain.groups.group import Group


class GroupMember(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    #: By topic name, in order. Of members that say it in a way of their own: nothing.
    assigned: dict[str, tuple[int, ...]]


#: Of each partition that somebody reads: who does.
Owners = dict[tuple[str, int], GroupMember]


def members(group: Group, catalog: Catalog) -> Iterator[GroupMember]:
    if isinstance(group, ClassicGroup):
        return _classic(group)
    assert isinstance(group, ConsumerGroup)
    return _modern(group, catalog)


def owners(group: Group, catalog: Catalog) -> Owners:
    return {
        (topic, partition): member
        for member in members(group, catalog)
        for topic, partitions in member.assigned.items()
        for partition in partitions
    }


def assignor_of(group: Group, default: str) -> str:
    """`default`: of a consumer group whose members have not named one."""
    if isinstance(group, ClassicGroup):
        return (group.protocol_name or "") if group.state is State.STABLE else ""
    return default


def _classic(group: ClassicGroup) -> Iterator[GroupMember]:
    # Until all are told of the new assignment, what is kept of the old one is nobody's.
    assigns = group.state is State.STABLE and group.protocol_type == CONSUMER
    for member_id in sorted(group.members):
        member = group.members[member_id]
        yield GroupMember(
            member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            _assigned(member.assignment) if assigns else {},
        )


def _assigned(assignment: bytes) -> dict[str, tuple[int, ...]]:
    """Nothing where it is not what consumers write."""
    try:
        partitions = read_assignment(assignment).partitions
    except Unreadable:
        return {}
    return {topic: tuple(sorted(partitions[topic])) for topic in sorted(partitions)}


def _modern(group: ConsumerGroup, catalog: Catalog) -> Iterator[GroupMember]:
    for member_id in sorted(group.members):
        member = group.members[member_id]
        yield GroupMember(
            member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            _by_name(group.current(member_id).assigned, catalog),
        )


def _by_name(assigned: Partitions, catalog: Catalog) -> dict[str, tuple[int, ...]]:
    """A topic that was deleted meanwhile has no name and is left out."""
    named = ((catalog.topic_by_id(topic_id), ones) for topic_id, ones in assigned.items())
    found = {topic.name: tuple(sorted(ones)) for topic, ones in named if topic is not None}
    return dict(sorted(found.items()))
