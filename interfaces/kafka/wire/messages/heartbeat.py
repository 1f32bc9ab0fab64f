"""Heartbeat. Version 3 has static members (KIP-345)."""

from __future__ import annotations

from interfaces.kafka.wire.fields import int16, int32, string
from interfaces.kafka.wire.schema import Request, Response


class HeartbeatRequest(Request, key=12, versions="0-4", flexible="4+"):
    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string("3+", nullable="3+", default=None)


class HeartbeatResponse(Response, key=12, versions="0-4", flexible="4+"):
    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16()
