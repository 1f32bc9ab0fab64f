"""Short builders of the requests of classic members."""

from __future__ import annotations

from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest
from interfaces.kafka.wire.messages.join_group import JoinGroupRequest
from interfaces.kafka.wire.messages.leave_group import LeaveGroupRequest
from interfaces.kafka.wire.messages.sync_group import SyncGroupRequest
from tests.fakes.structs import build


def join_request(
    member_id: str = "",
    group_id: str = "g",
    instance_id: str | None = None,
    protocols: dict[str, bytes] | None = None,
    session_ms: int = 10_000,
    rebalance_ms: int = 60_000,
    protocol_type: str = "consumer",
) -> JoinGroupRequest:
    offered = {"range": b"r"} if protocols is None else protocols
    fields = {
        "group_id": group_id,
        "session_timeout_ms": session_ms,
        "rebalance_timeout_ms": rebalance_ms,
        "member_id": member_id,
        "group_instance_id": instance_id,
        "protocol_type": protocol_type,
        "protocols": [{"name": name, "metadata": data} for name, data in offered.items()],
    }
    return build(JoinGroupRequest, fields)


def sync_request(
    generation_id: int,
    member_id: str,
    assignments: dict[str, bytes] | None = None,
    group_id: str = "g",
    instance_id: str | None = None,
    protocol_type: str | None = "consumer",
    protocol_name: str | None = "range",
) -> SyncGroupRequest:
    assigned = (assignments or {}).items()
    fields = {
        "group_id": group_id,
        "generation_id": generation_id,
        "member_id": member_id,
        "group_instance_id": instance_id,
        "protocol_type": protocol_type,
        "protocol_name": protocol_name,
        "assignments": [{"member_id": one, "assignment": data} for one, data in assigned],
    }
    return build(SyncGroupRequest, fields)


def heartbeat_request(
    generation_id: int, member_id: str, group_id: str = "g", instance_id: str | None = None
) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=group_id,
        generation_id=generation_id,
        member_id=member_id,
        group_instance_id=instance_id,
    )


def leave_request(*members: tuple[str, str | None], group_id: str = "g") -> LeaveGroupRequest:
    leaving = [{"member_id": one, "group_instance_id": name} for one, name in members]
    return build(LeaveGroupRequest, {"group_id": group_id, "members": leaving})
