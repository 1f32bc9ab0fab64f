"""ListTransactions. Version 1 filters by duration; 2 by a pattern, which is RE2."""

from __future__ import annotations

from interfaces.kafka.wire.fields import array, int16, int32, int64, string
from interfaces.kafka.wire.schema import Request, Response
from interfaces.kafka.wire.structs import Struct


class ListTransactionsRequest(Request, key=66, versions="0-2", flexible="0+"):
    state_filters: list[str] = array(string)
    producer_id_filters: list[int] = array(int64)
    duration_filter: int = int64("1+", default=-1)
    transactional_id_pattern: str | None = string("2+", nullable="2+", default=None)


class TransactionState(Struct):
    transactional_id: str = string()
    producer_id: int = int64()
    transaction_state: str = string()


class ListTransactionsResponse(Response, key=66, versions="0-2", flexible="0+"):
    throttle_time_ms: int = int32()
    error_code: int = int16()
    unknown_state_filters: list[str] = array(string)
    transaction_states: list[TransactionState] = array(TransactionState)
