"""CreateTopics and CreatePartitions: each topic is changed on its own and has a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol, TypeVar

from application.ports.pending import Pending, later
from application.security.client_quotas import MutationQuota
from domain.errors import BrokerError, InvalidRequest
from domain.topics.topic import Topic
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.schema import Response


class TopicChange(Protocol):
    name: str


T = TypeVar("T", bound=TopicChange)
R = TypeVar("R")
Changed = Topic | BrokerError


def respond_to_each(
    topics: list[T],
    call: Call,
    quota: MutationQuota,
    change: Callable[[list[T]], list[Changed] | Pending[list[Changed]]],
    result: Callable[[str, Changed, Call], R],
    response: Callable[[list[R]], Response],
) -> None:
    """Topics that are named more than once are refused; they are first in the response."""
    call.topics = len(topics)
    times = Counter(topic.name for topic in topics)
    duplicate = InvalidRequest("Duplicate topic name.")
    refused = [result(name, duplicate, call) for name, count in times.items() if count > 1]
    once = [topic for topic in topics if times[topic.name] == 1]
    names = [topic.name for topic in once]

    def respond(changed: list[Changed]) -> Response:
        if quota.throttle_ms:
            call.throttle(least_ms=quota.throttled())
        results = [result(name, one, call) for name, one in zip(names, changed, strict=True)]
        return response(refused + results)

    call.respond_later(later(change(once)), respond)
