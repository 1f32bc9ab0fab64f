"""EndTxn. Version 5 returns the next producer id and epoch (KIP-890)."""

from __future__ import annotations

from interfaces.kafka.wire.fields import boolean, int16, int32, int64, string
from interfaces.kafka.wire.schema import Request, Response


class EndTxnRequest(Request, key=26, versions="0-5", flexible="3+"):
    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    committed: bool = boolean()


class EndTxnResponse(Response, key=26, versions="0-5", flexible="3+"):
    throttle_time_ms: int = int32()
    error_code: int = int16()
    producer_id: int = int64("5+", default=-1, ignorable=True)
    producer_epoch: int = int16("5+", default=-1, ignorable=True)
