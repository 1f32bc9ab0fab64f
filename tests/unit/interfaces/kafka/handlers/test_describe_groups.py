from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.handlers.shared.authorized_operations import NOT_REQUESTED
from interfaces.kafka.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
)
from tests.fakes.classic_members import Member, stable
from tests.fakes.client import FakeKafka


def described(kafka: FakeKafka, version: int, *names: str, **facts: Any) -> list[Any]:
    asked = DescribeGroupsRequest(groups=list(names), **facts)
    groups: list[Any] = kafka.client().ask(asked, version).groups
    return groups


@pytest.mark.parametrize("version", range(7))
def test_a_stable_group_is_described_whole(version: int) -> None:
    kafka = FakeKafka()
    member = Member(kafka, instance_id="i")
    stable(kafka, member)
    (group,) = described(kafka, version, "g")
    assert group == DescribedGroup(
        group_id="g",
        group_state="Stable",
        protocol_type="consumer",
        protocol_data="range",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id="i" if version >= 4 else None,
                client_id="a-client",
                client_host="/192.0.2.7",
                member_metadata=b"r",
                member_assignment=member.member_id.encode(),
            )
        ],
    )


@pytest.mark.parametrize("version", [0, 6])
def test_before_the_assignment_neither_protocol_nor_metadata_is_told(version: int) -> None:
    kafka = FakeKafka()
    Member(kafka).join()
    (group,) = described(kafka, version, "g")
    assert (group.group_state, group.protocol_data) == ("CompletingRebalance", "")
    assert [(one.member_metadata, one.member_assignment) for one in group.members] == [(b"", b"")]


@pytest.mark.parametrize("version", range(7))
def test_a_group_that_is_not_there_is_dead(version: int) -> None:
    groups = described(FakeKafka(), version, "none", "")
    assert [one.group_state for one in groups] == ["Dead", "Dead"]
    codes = [69, 69] if version >= 6 else [0, 0]
    assert [one.error_code for one in groups] == codes
    messages = ["Group none not found.", "Group  not found."] if version >= 6 else [None, None]
    assert [one.error_message for one in groups] == messages


@pytest.mark.parametrize("version", range(3, 7))
def test_operations_are_told_to_who_asks_for_them(version: int) -> None:
    kafka = FakeKafka()
    stable(kafka, Member(kafka))
    (asked,) = described(kafka, version, "g", include_authorized_operations=True)
    (other,) = described(kafka, version, "g")
    assert asked.authorized_operations == 3400
    assert other.authorized_operations == NOT_REQUESTED


def test_an_empty_group_has_its_type_and_nobody() -> None:
    kafka = FakeKafka()
    member = Member(kafka)
    stable(kafka, member)
    member.leave()
    (group,) = described(kafka, 6, "g")
    assert (group.group_state, group.protocol_type, group.members) == ("Empty", "consumer", [])
