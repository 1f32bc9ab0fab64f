"""CreatePartitions (key 37), versions 0-3.

2  flexible        3  THROTTLING_QUOTA_EXCEEDED (KIP-599)
"""

from __future__ import annotations

from application.topics.partitions import MorePartitions
from domain.errors import BrokerError
from interfaces.kafka.handlers.shared.topics_once import Changed, respond_to_each
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

FIRST_WITH_QUOTA_ERROR = 3


def handle(request: CreatePartitionsRequest, call: Call) -> None:
    grow = call.broker.topics.create_partitions.grow
    quota = call.mutation_quota(FIRST_WITH_QUOTA_ERROR)
    respond_to_each(
        request.topics,
        call,
        quota,
        lambda once: grow(
            [_more(topic) for topic in once], request.validate_only, call.requester, quota.record
        ),
        _result,
        lambda results: CreatePartitionsResponse(results=results),
    )


def _more(topic: CreatePartitionsTopic) -> MorePartitions:
    assignments = topic.assignments
    return MorePartitions(
        topic.name,
        topic.count,
        None if assignments is None else [one.broker_ids for one in assignments],
    )


def _result(name: str, grown: Changed, call: Call) -> CreatePartitionsTopicResult:
    if isinstance(grown, BrokerError):
        return CreatePartitionsTopicResult(
            name=name, error_code=call.code(grown), error_message=grown.message or None
        )
    return CreatePartitionsTopicResult(name=name, error_code=0)
