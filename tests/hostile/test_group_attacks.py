"""Attacks by members of groups, and by their metadata."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from interfaces.kafka.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from interfaces.kafka.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from interfaces.kafka.wire.schema import Request, Response
from tests.e2e.raw_client import RawClient, frame
from tests.hostile.attack import FULL, KIB, Attacked, connections, reset, send_all_at_once

JOIN, BEAT, COMMIT, LIST = 3, 1, 6, 2
SESSION_MS = 1500
INVALID_REGULAR_EXPRESSION = 128


def body(request: Request, version: int) -> bytes:
    head = b"\0" if request.is_flexible(version) else b""
    return head + b"".join(request.encode(version))


def framed(request: Request, version: int, number: int) -> bytes:
    return frame(request.api_key, version, number, body(request, version))


def response_to(client: RawClient, request: Request, version: int, shape: type[Response]) -> Any:
    raw = client.request(request.api_key, version, body(request, version))
    return shape.decode(version, raw.data, 5 if request.is_flexible(version) else 4)[0]


def join(group_id: str, metadata_bytes: int, session_ms: int = SESSION_MS) -> JoinGroupRequest:
    protocol = JoinGroupRequestProtocol(name="range", metadata=bytes(metadata_bytes))
    return JoinGroupRequest(
        group_id=group_id,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=2 * session_ms,
        protocol_type="consumer",
        protocols=[protocol],
    )


def groups_there(client: RawClient) -> int:
    return len(response_to(client, ListGroupsRequest(), LIST, ListGroupsResponse).groups)


def attacked_members(start: Callable[..., Attacked]) -> Attacked:
    return start(
        group_min_session_timeout_ms="100",
        group_max_size="500",
        offsets_retention_check_interval_ms="300",
    )


def test_clients_that_join_thousands_of_groups_and_vanish(start: Callable[..., Attacked]) -> None:
    attacked = attacked_members(start)
    count, each, metadata = 20, 100, 2 * KIB
    with attacked.endured(
        connections=count + 2, active=count, members=count * each, metadata=metadata
    ):
        with connections(attacked.broker, count) as clients:
            for number, client in enumerate(clients):
                for one in range(each):
                    group_id = f"group {number} {one}"
                    response = response_to(
                        client, join(group_id, metadata), JOIN, JoinGroupResponse
                    )
                    assert response.error_code == 0
            for client in clients:
                reset(client)
        with attacked.broker.connect() as client:
            # Empty groups without offsets are deleted when the sessions have expired.
            while groups_there(client):
                time.sleep(0.05)


def test_a_large_group_with_large_metadata(start: Callable[..., Attacked]) -> None:
    """The leader of a generation receives the metadata of all members."""
    attacked = attacked_members(start)
    count, metadata = 150, 60 * KIB
    # New members come while others wait: one after the other, and then all at once.
    with (
        connections(attacked.broker, count) as clients,
        attacked.endured(connections=count + 1, active=count, members=count, metadata=metadata),
    ):
        frames = [framed(join("crowd", metadata, 10_000), JOIN, 1) for _ in clients]
        send_all_at_once(clients, frames, idle_s=0.5)


def test_a_member_too_many(start: Callable[..., Attacked]) -> None:
    attacked = start(group_min_session_timeout_ms="100", group_max_size="20")
    with (
        connections(attacked.broker, 60) as clients,
        attacked.endured(connections=61, active=60, members=20, metadata=KIB),
    ):
        first = response_to(clients[0], join("full", KIB, 10_000), JOIN, JoinGroupResponse)
        assert first.error_code == 0
        send_all_at_once(
            clients[1:], [framed(join("full", KIB, 10_000), JOIN, 2) for _ in clients[1:]], 0.5
        )
        refused = 0
        for client in clients[1:]:
            client.socket.settimeout(0.05)
            try:
                _, raw = client.receive()
            except TimeoutError:
                continue  # it waits for the first member
            refused += JoinGroupResponse.decode(JOIN, raw.data, 4)[0].error_code == 81
        # As in Kafka, a member that has to rejoin counts beside the waiting ones.
        assert refused == 39


def test_connections_that_are_cut_while_they_join(start: Callable[..., Attacked]) -> None:
    attacked = attacked_members(start)
    rounds, metadata = 400, 20 * KIB
    with (
        attacked.endured(connections=3, active=2, members=500, metadata=metadata),
        attacked.broker.connect() as silent,
    ):
        response = response_to(silent, join("cut", KIB, 10_000), JOIN, JoinGroupResponse)
        assert response.error_code == 0
        for number in range(rounds):
            client = attacked.broker.connect()
            client.socket.sendall(framed(join("cut", metadata), JOIN, number))
            reset(client)


def test_offsets_with_as_much_metadata_as_there_may_be(attacked: Attacked) -> None:
    with attacked.broker.connect() as client:
        assert client.create_topic("wide", 400) == 0
    rounds, partitions, metadata = 40, 400, "x" * 4096
    persisted = rounds * partitions * (256 + len(metadata))
    with (
        attacked.endured(connections=2, active=1, offsets=persisted),
        attacked.broker.connect() as one,
    ):
        for number in range(rounds):
            request = OffsetCommitRequest(
                group_id=f"group {number}",
                topics=[
                    OffsetCommitRequestTopic(
                        name="wide",
                        partitions=[
                            OffsetCommitRequestPartition(
                                partition_index=index,
                                committed_offset=number,
                                committed_metadata=metadata,
                            )
                            for index in range(partitions)
                        ],
                    )
                ],
            )
            response = response_to(one, request, COMMIT, OffsetCommitResponse)
            assert {p.error_code for t in response.topics for p in t.partitions} == {0}


def test_hostile_regular_expressions(attacked: Attacked) -> None:
    """RE2 bounds the memory of each expression, and the broker the number of expressions."""
    long = "(" + "|".join(f"[a-{chr(98 + n % 25)}]{{1,50}}x{n}" for n in range(1500)) + ")"
    evil = ["(a+)+$", "(.*)*" * 300, "((((a*)*)*)*)*b", "(x{1,30}){1,30}", "\\pL{100}" * 20, long]
    codes = set()
    count = 400
    with (
        attacked.endured(
            connections=2, active=1, members=count, metadata=40 * KIB, expressions=128
        ),
        attacked.broker.connect() as client,
    ):
        for number in range(count):
            request = ConsumerGroupHeartbeatRequest(
                group_id=f"group {number % 7}",
                member_id=f"member {number}",
                rebalance_timeout_ms=60_000,
                subscribed_topic_regex=f"{evil[number % len(evil)]}{number}"[:32_000],
                topic_partitions=[],
            )
            response = response_to(client, request, BEAT, ConsumerGroupHeartbeatResponse)
            codes.add(response.error_code)
    assert codes <= {0, INVALID_REGULAR_EXPRESSION} and 0 in codes


def test_a_thousand_members_of_a_consumer_group(attacked: Attacked) -> None:
    count = 1000
    with (
        attacked.endured(connections=2, active=1, members=count, metadata=KIB),
        attacked.broker.connect() as client,
    ):
        for number in range(count):
            request = ConsumerGroupHeartbeatRequest(
                group_id="many",
                member_id=f"member {number}",
                rebalance_timeout_ms=60_000,
                subscribed_topic_names=[FULL],
                topic_partitions=[],
            )
            response = response_to(client, request, BEAT, ConsumerGroupHeartbeatResponse)
            assert response.error_code == 0
