from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
)
from tests.fakes.classic_members import Member
from tests.fakes.client import FakeClient, FakeKafka


def described(client: FakeClient, version: int, *names: str, **fields: Any) -> list[Any]:
    request = DescribeGroupsRequest(groups=list(names), **fields)
    groups: list[Any] = client.request(request, version).groups
    return groups


@pytest.mark.parametrize("version", [0, 3, 4, 6])
def test_each_state_of_a_group_is_described(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """Protocol and metadata only when it is stable; instances from version 4 on."""
    member = Member(kafka, instance_id="i")
    member.join()
    (joining,) = described(client, version, "g")
    assert (joining.group_state, joining.protocol_data) == ("CompletingRebalance", "")
    assert [(one.member_metadata, one.member_assignment) for one in joining.members] == [(b"", b"")]
    member.sync({member.member_id: b"assigned"})
    described_member = DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id="i" if version >= 4 else None,
        client_id="a-client",
        client_host="/192.0.2.7",
        member_metadata=b"r",
        member_assignment=b"assigned",
    )
    assert described(client, version, "g") == [
        DescribedGroup(
            group_id="g",
            group_state="Stable",
            protocol_type="consumer",
            protocol_data="range",
            members=[described_member],
        )
    ]
    member.leave()
    (empty,) = described(client, version, "g")
    assert (empty.group_state, empty.protocol_type, empty.members) == ("Empty", "consumer", [])
