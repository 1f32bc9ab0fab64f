"""GetTelemetrySubscriptions: what the broker wants to know of a client (KIP-714)."""

from __future__ import annotations

from interfaces.kafka.wire.fields import array, boolean, int8, int16, int32, string, uuid
from interfaces.kafka.wire.schema import Request, Response


class GetTelemetrySubscriptionsRequest(Request, key=71, versions="0", flexible="0+"):
    client_instance_id: bytes = uuid()


class GetTelemetrySubscriptionsResponse(Response, key=71, versions="0", flexible="0+"):
    throttle_time_ms: int = int32()
    error_code: int = int16()
    client_instance_id: bytes = uuid()
    subscription_id: int = int32()
    accepted_compression_types: list[int] = array(int8)
    push_interval_ms: int = int32()
    telemetry_max_bytes: int = int32()
    delta_temporality: bool = boolean()
    requested_metrics: list[str] = array(string)
