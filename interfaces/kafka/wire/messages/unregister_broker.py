"""UnregisterBroker: removes a broker that has stopped for good (KIP-500)."""

from __future__ import annotations

from interfaces.kafka.wire.fields import int16, int32, string
from interfaces.kafka.wire.schema import Request, Response


class UnregisterBrokerRequest(Request, key=64, versions="0", flexible="0+"):
    broker_id: int = int32()


class UnregisterBrokerResponse(Response, key=64, versions="0", flexible="0+"):
    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
