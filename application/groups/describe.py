"""What is told about groups: of all of them a line, of a classic one everything."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from application.groups.registry import Groups
from domain.errors import BrokerError, GroupIdNotFound
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.states import State
from domain.groups.group import Group


class DescribedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


class DescribedGroup(NamedTuple):
    state: str
    protocol_type: str
    protocol_name: str
    members: tuple[DescribedMember, ...]


def describe(groups: Groups, group_id: str) -> DescribedGroup | BrokerError:
    """A group of the other kind has a description of its own, and is not found here."""
    try:
        group = ClassicGroup.existing(groups.find(group_id), group_id)
    except GroupIdNotFound as refusal:
        return refusal.as_value()
    # Until the next generation is assigned, metadata is of no elected protocol.
    name = (group.protocol_name or "") if group.state is State.STABLE else None
    members = tuple(
        DescribedMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.metadata(name),
            member.assignment,
        )
        for member in group.members.values()
    )
    return DescribedGroup(group.state_name, group.protocol_type, name or "", members)


def listed(groups: Groups, states: Collection[str], kinds: Collection[str]) -> list[Group]:
    """Those in one of the states and of one of the kinds, in any spelling; none given: of all."""
    wanted_states = {state.lower() for state in states}
    wanted_kinds = {kind.lower() for kind in kinds}
    return [
        group
        for group in groups
        if (not wanted_states or group.state_name.lower() in wanted_states)
        and (not wanted_kinds or group.kind.value.lower() in wanted_kinds)
    ]
