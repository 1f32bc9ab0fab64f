"""Members of classic groups over sessions."""

from __future__ import annotations

from typing import Any

from tests.fakes.classic_requests import (
    heartbeat_request,
    join_request,
    leave_request,
    sync_request,
)
from tests.fakes.client import FakeClient, FakeKafka

JOIN, SYNC, HEARTBEAT, LEAVE = 9, 5, 4, 5
MEMBER_ID_REQUIRED = 4


class Member:
    """One connection, and its membership."""

    def __init__(self, kafka: FakeKafka, group_id: str = "g", **facts: Any) -> None:
        self.kafka = kafka
        self.client: FakeClient = kafka.client()
        self.group_id = group_id
        self.facts = facts
        self.member_id = ""
        self.generation_id = -1

    @property
    def instance_id(self) -> str | None:
        found: str | None = self.facts.get("instance_id")
        return found

    def fetch_id(self, version: int = JOIN, **other: Any) -> None:
        """Requests a member id before the join (KIP-394)."""
        if not self.member_id and version >= MEMBER_ID_REQUIRED and self.instance_id is None:
            facts = {**self.facts, **other}
            response = self.client.request(join_request("", self.group_id, **facts), version)
            assert response.error_code == 79, response
            self.member_id = response.member_id

    def begin_join(self, version: int = JOIN, **other: Any) -> None:
        """Sends the join and returns at once."""
        self.fetch_id(version, **other)
        facts = {**self.facts, **other}
        self.client.send(join_request(self.member_id, self.group_id, **facts), version)

    def joined(self) -> Any:
        """The response, which has arrived."""
        response = self.response()
        if response.error_code == 0:
            self.member_id = response.member_id
            self.generation_id = response.generation_id
        return response

    def join(self, version: int = JOIN, **other: Any) -> Any:
        self.begin_join(version, **other)
        return self.joined()

    def begin_sync(
        self, assignments: dict[str, bytes] | None = None, version: int = SYNC, **other: Any
    ) -> None:
        facts = {"group_id": self.group_id, "instance_id": self.instance_id, **other}
        self.client.send(
            sync_request(self.generation_id, self.member_id, assignments, **facts), version
        )

    def sync(
        self, assignments: dict[str, bytes] | None = None, version: int = SYNC, **other: Any
    ) -> Any:
        self.begin_sync(assignments, version, **other)
        return self.response()

    def heartbeat(self) -> int:
        request = heartbeat_request(
            self.generation_id, self.member_id, self.group_id, self.instance_id
        )
        code: int = self.client.request(request, HEARTBEAT).error_code
        return code

    def leave(self) -> Any:
        request = leave_request((self.member_id, self.instance_id), group_id=self.group_id)
        return self.client.request(request, LEAVE)

    def responses(self) -> list[Any]:
        self.kafka.run()
        return self.client.responses()

    def response(self) -> Any:
        responses = self.responses()
        assert len(responses) == 1, responses
        return responses[0]

    @property
    def waits(self) -> bool:
        return not self.responses()


def join_all(*members: Member) -> list[Any]:
    """Joins all in one generation; returns responses in the order of the members."""
    for member in members:
        member.fetch_id()
    for member in members:
        member.begin_join()
    return [member.joined() for member in members]


def stable(kafka: FakeKafka, *members: Member) -> None:
    """All join, and the leader assigns each its own id."""
    join_all(*members)
    leader = next(one for one in members if one.member_id == leader_of(kafka, one.group_id))
    for member in members:
        if member is not leader:
            member.begin_sync()
    shares = {one.member_id: one.member_id.encode() for one in members}
    assert leader.sync(shares).error_code == 0
    for member in members:
        if member is not leader:
            assert member.response().assignment == member.member_id.encode()


def leader_of(kafka: FakeKafka, group_id: str = "g") -> str:
    group: Any = kafka.broker.groups.registry.find(group_id)
    leader: str = group.leader
    return leader
