"""Transactions as JSON. Confluent's v3 has none; names and states are written as its others."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated

from typing_extensions import TypedDict

from interfaces.rest.shapes.common import Resource, resource
from interfaces.rest.shapes.groups import as_constant


class TransactionPartitionBody(TypedDict):
    topic_name: str
    partition_id: int
    #: Of this transaction. null: the partition has not been used since the start of the broker.
    first_offset: int | None
    #: Consumers with read_committed read up to there; null as above.
    last_stable_offset: int | None
    high_watermark: int | None


@resource("KafkaTransaction", "transactions/{transactional_id}")
class TransactionBody(Resource):
    transactional_id: str
    producer_id: int
    producer_epoch: Annotated[int, attrgetter("epoch")]
    #: EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT
    state: Annotated[str, lambda one: as_constant(one.state.value)]
    timeout_ms: int
    #: null: no transaction was started.
    started_ms: Annotated[int | None, lambda one: one.started_ms if one.started_ms >= 0 else None]
    #: null: no transaction is open.
    open_for_ms: int | None
    partitions: list[TransactionPartitionBody]
    #: Whose offsets the transaction commits.
    consumer_groups: list[str]
