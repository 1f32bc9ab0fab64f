"""PushTelemetry: a client's metrics, as OTLP (KIP-714)."""

from __future__ import annotations

from interfaces.kafka.wire.fields import boolean, int8, int16, int32, octets, uuid
from interfaces.kafka.wire.schema import Request, Response


class PushTelemetryRequest(Request, key=72, versions="0", flexible="0+"):
    client_instance_id: bytes = uuid()
    subscription_id: int = int32()
    terminating: bool = boolean()
    compression_type: int = int8()
    metrics: bytes = octets()


class PushTelemetryResponse(Response, key=72, versions="0", flexible="0+"):
    throttle_time_ms: int = int32()
    error_code: int = int16()
