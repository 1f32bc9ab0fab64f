"""CreatePartitions (key 37), versions 0-3.

2  flexible        3  may answer with a throttling error (never does)
"""

from __future__ import annotations

from collections import Counter

from application.ports.pending import Pending
from application.topics.partitions import Grown, MorePartitions
from domain.errors import BrokerError, InvalidRequest
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


def handle(request: CreatePartitionsRequest, call: Call) -> CreatePartitionsResponse | None:
    call.topics = len(request.topics)
    times = Counter(topic.name for topic in request.topics)
    refused = [
        _result(name, InvalidRequest("Duplicate topic name."), call)
        for name, count in times.items()
        if count > 1
    ]
    wanted = [_more(topic) for topic in request.topics if times[topic.name] == 1]
    names = [more.name for more in wanted]
    grown = call.broker.topics.create_partitions.grow(wanted, request.validate_only)
    if isinstance(grown, Pending):
        call.respond_later(grown, lambda late: _response(late, names, refused, call))
        return None
    return _response(grown, names, refused, call)


def _more(topic: CreatePartitionsTopic) -> MorePartitions:
    assignments = topic.assignments
    return MorePartitions(
        topic.name,
        topic.count,
        None if assignments is None else [one.broker_ids for one in assignments],
    )


def _response(
    grown: list[Grown], names: list[str], refused: list[CreatePartitionsTopicResult], call: Call
) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=refused + [_result(name, one, call) for name, one in zip(names, grown, strict=True)]
    )


def _result(name: str, grown: Grown, call: Call) -> CreatePartitionsTopicResult:
    if isinstance(grown, BrokerError):
        return CreatePartitionsTopicResult(
            name=name, error_code=call.code(grown), error_message=grown.message
        )
    return CreatePartitionsTopicResult(name=name, error_code=0)
