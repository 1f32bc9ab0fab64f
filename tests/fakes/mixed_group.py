"""Groups with members of both protocols over sessions, subscribed to topic `t`."""

from __future__ import annotations

from typing import Any

from domain.groups.embedded_protocol import read_assignment, write_assignment
from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from tests.fakes.classic_members import Member, join_all
from tests.fakes.client import FakeKafka
from tests.fakes.consumer_protocol import subscription


def classic(kafka: FakeKafka, **facts: Any) -> Member:
    facts.setdefault("protocols", {"range": subscription("t")})
    return Member(kafka, **facts)


class Modern:
    def __init__(self, kafka: FakeKafka, member_id: str = "m", **facts: Any) -> None:
        self.client = kafka.client()
        self.member_id = member_id
        self.facts = facts
        self.epoch = 0
        self.has: list[Any] = []

    def heartbeat(self, epoch: int | None = None, **fields: Any) -> ConsumerGroupHeartbeatResponse:
        request = ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id=self.member_id,
            member_epoch=self.epoch if epoch is None else epoch,
            **{**self.facts, **fields},
        )
        response: ConsumerGroupHeartbeatResponse = self.client.request(request, 1)
        if response.error_code == 0:
            self.epoch = response.member_epoch
            if response.assignment is not None:
                self.has = response.assignment.topic_partitions
        return response

    def join(self) -> ConsumerGroupHeartbeatResponse:
        return self.heartbeat(
            0, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"], topic_partitions=[]
        )

    def beat(self) -> ConsumerGroupHeartbeatResponse:
        return self.heartbeat(topic_partitions=self.has)

    @property
    def partitions(self) -> list[int]:
        return [one for topic in self.has for one in topic.partitions]


def share_out(*members: Member) -> None:
    """The first member leads and assigns the partitions of t."""
    join_all(*members)
    shares = {
        member.member_id: write_assignment(1, {"t": list(range(4))[place :: len(members)]})
        for place, member in enumerate(members)
    }
    for member in members[1:]:
        member.begin_sync()
    protocol_type = members[0].facts.get("protocol_type", "consumer")
    assert members[0].sync(shares, protocol_type=protocol_type).error_code == 0
    for member in members[1:]:
        member.response()


def synced(member: Member) -> list[int]:
    response = member.sync(protocol_type="consumer", protocol_name="range")
    assert response.error_code == 0
    return list(read_assignment(bytes(response.assignment)).partitions.get("t", []))


def rejoin(member: Member, owned: list[int]) -> list[int]:
    """Rejoins as a cooperative consumer does; returns its partitions."""
    facts = {"protocols": {"range": subscription("t", owned={"t": owned} if owned else {})}}
    assert member.join(**facts).error_code == 0
    return synced(member)


def kind(kafka: FakeKafka) -> type[object]:
    return type(kafka.broker.groups.registry.find("g"))
