"""DeleteTopics (key 20), versions 1-6.

4  flexible        5  error messages        6  topics by id (KIP-516)
"""

from __future__ import annotations

from application.topics.delete import Deleted
from domain.errors import BrokerError, InvalidRequest, StorageFailed
from domain.topics.topic import NO_TOPIC_ID, Topic
from interfaces.kafka.call import Call
from interfaces.kafka.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

FIRST_BY_ID = 6


def handle(request: DeleteTopicsRequest, call: Call) -> DeleteTopicsResponse | None:
    delete = call.broker.delete_topics
    seen: set[bytes] = set()
    found: list[tuple[DeleteTopicState, Deleted]] = []
    for state in _wanted(request, call.version):
        if (state.name is None) == (state.topic_id == NO_TOPIC_ID):
            one: Deleted = InvalidRequest("A topic is named either by name or by id.")
        else:
            one = delete.find(state.name, state.topic_id)
        if isinstance(one, Topic):
            if one.topic_id in seen:
                one = InvalidRequest("Duplicate topic name or id.")
            else:
                seen.add(one.topic_id)
        found.append((state, one))
    call.topics = len(found)
    topics = [one for _, one in found if isinstance(one, Topic)]
    if not topics:
        return _response(found, None, call)
    call.respond_later(delete.delete(topics), lambda failure: _response(found, failure, call))
    return None


def _wanted(request: DeleteTopicsRequest, version: int) -> list[DeleteTopicState]:
    if version >= FIRST_BY_ID:
        return request.topics
    return [DeleteTopicState(name=name) for name in request.topic_names]


def _response(
    found: list[tuple[DeleteTopicState, Deleted]], failure: StorageFailed | None, call: Call
) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            _refused(state, one, call)
            if isinstance(one, BrokerError)
            else _refused(state, failure, call)
            if failure is not None
            else DeletableTopicResult(name=one.name, topic_id=one.topic_id, error_code=0)
            for state, one in found
        ]
    )


def _refused(state: DeleteTopicState, error: BrokerError, call: Call) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=state.name,
        topic_id=state.topic_id,
        error_code=call.code(error),
        error_message=error.message or None,
    )


def failed(request: DeleteTopicsRequest, call: Call, code: int) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(name=state.name, topic_id=state.topic_id, error_code=code)
            for state in _wanted(request, call.version)
        ]
    )
