"""InitProducerId.

Version 3 can request the next epoch of an id (KIP-360); 4 has PRODUCER_FENCED (KIP-588); 6 is for
two-phase commit (KIP-939), and no broker advertises it yet.
"""

from __future__ import annotations

from interfaces.kafka.wire.fields import boolean, int16, int32, int64, string
from interfaces.kafka.wire.schema import Request, Response


class InitProducerIdRequest(Request, key=22, versions="0-6", flexible="2+"):
    transactional_id: str | None = string(nullable="0+")
    transaction_timeout_ms: int = int32()
    producer_id: int = int64("3+", default=-1)
    producer_epoch: int = int16("3+", default=-1)
    enable2_pc: bool = boolean("6+")
    keep_prepared_txn: bool = boolean("6+")


class InitProducerIdResponse(Response, key=22, versions="0-6", flexible="2+"):
    throttle_time_ms: int = int32()
    error_code: int = int16()
    producer_id: int = int64(default=-1)
    producer_epoch: int = int16()
    ongoing_txn_producer_id: int = int64("6+", default=-1)
    ongoing_txn_producer_epoch: int = int16("6+", default=-1)
