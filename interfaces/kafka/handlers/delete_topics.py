"""DeleteTopics (key 20), versions 1-6.

4  flexible        5  error messages, THROTTLING_QUOTA_EXCEEDED (KIP-599)
6  topics by id (KIP-516)
"""

from __future__ import annotations

from collections import Counter

from application.topics.delete import Deleted, DeleteTopicsService
from domain.errors import InvalidRequest, TopicAuthorizationFailed, UnknownTopicId
from domain.security.access import Operation, ResourceType
from domain.topics.topic import NO_TOPIC_ID, Topic
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

FIRST_WITH_QUOTA_ERROR = 5
FIRST_BY_ID = 6

#: Kafka's message.
_NOT_AUTHORIZED = "Topic authorization failed."


def handle(request: DeleteTopicsRequest, call: Call) -> None:
    delete = call.broker.topics.delete_topics
    requested = _requested(request, call.version)
    if requested:
        delete.check_newest()
    found = [_allowed(state, one, call) for state, one in _find(requested, delete)]
    call.topics = len(found)

    quota = call.mutation_quota(FIRST_WITH_QUOTA_ERROR)

    def response(deleted: list[Deleted]) -> DeleteTopicsResponse:
        if quota.throttle_ms:
            call.throttle(least_ms=quota.throttled())
        outcomes = iter(deleted)
        return DeleteTopicsResponse(
            responses=[
                _result(state, next(outcomes) if isinstance(one, Topic) else one, call)
                for state, one in found
            ]
        )

    topics = [one for _, one in found if isinstance(one, Topic)]
    call.respond_later(delete.stage(topics, call.requester, quota.record), response)


def _find(
    states: list[DeleteTopicState], delete: DeleteTopicsService
) -> list[tuple[DeleteTopicState, Deleted]]:
    """A topic that is named twice is not deleted, and has one result."""
    times = Counter((state.name, state.topic_id) for state in states)
    once = {(state.name, state.topic_id): state for state in states}
    found = [(state, _find_one(state, times[key], delete)) for key, state in once.items()]
    topics = Counter(one.topic_id for _, one in found if isinstance(one, Topic))
    twice = InvalidRequest("The provided topic name maps to an ID that was already supplied.")
    return [
        (state, twice if isinstance(one, Topic) and topics[one.topic_id] > 1 else one)
        for state, one in found
    ]


def _find_one(state: DeleteTopicState, times: int, delete: DeleteTopicsService) -> Deleted:
    if state.name is None and state.topic_id == NO_TOPIC_ID:
        return InvalidRequest("Neither topic name nor id were specified.")
    if state.name is not None and state.topic_id != NO_TOPIC_ID:
        return InvalidRequest("You may not specify both topic name and topic id.")
    if times > 1:
        return InvalidRequest(f"Duplicate topic {'id' if state.name is None else 'name'}.")
    return delete.find(state.name, state.topic_id)


def _allowed(
    state: DeleteTopicState, found: Deleted, call: Call
) -> tuple[DeleteTopicState, Deleted]:
    """A topic that the client may not describe is refused whether it exists or not, by its id too;
    then the response has no name.
    """
    if isinstance(found, (InvalidRequest, UnknownTopicId)):
        return state, found
    name = found.name if isinstance(found, Topic) else state.name or ""
    if not call.requires(Operation.DESCRIBE, ResourceType.TOPIC, name):
        return state, TopicAuthorizationFailed(_NOT_AUTHORIZED)
    if isinstance(found, Topic) and not call.requires(Operation.DELETE, ResourceType.TOPIC, name):
        return DeleteTopicState(name=name, topic_id=state.topic_id), TopicAuthorizationFailed(
            _NOT_AUTHORIZED
        )
    return state, found


def _requested(request: DeleteTopicsRequest, version: int) -> list[DeleteTopicState]:
    if version >= FIRST_BY_ID:
        return request.topics
    return [DeleteTopicState(name=name) for name in request.topic_names]


def _result(state: DeleteTopicState, deleted: Deleted, call: Call) -> DeletableTopicResult:
    if isinstance(deleted, Topic):
        return DeletableTopicResult(name=deleted.name, topic_id=deleted.topic_id, error_code=0)
    return DeletableTopicResult(
        name=state.name,
        topic_id=state.topic_id,
        error_code=call.code(deleted),
        error_message=deleted.message or None,
    )
