"""What a request concerns: the one group, config resource or topic that its log line names."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

from domain.topics.topic import NO_TOPIC_ID
from interfaces.kafka.requests.config_numbers import RESOURCE_KINDS

#: What FindCoordinator calls a key of this kind.
GROUP = 0

#: What is concerned, and its name; for a topic it may be the id, whose name the log looks up.
LogSubject = tuple[str, str | bytes]

#: Fields of requests, and what they name; the first that is not empty counts.
_FIELDS = {
    "group_id": "group",
    "groups": "group",
    "groups_names": "group",
    "group_ids": "group",
    "coordinator_keys": "group",
    "key": "group",
    "resources": "resource",
    "topics": "topic",
    "topic_data": "topic",
    "topic_names": "topic",
}


def log_subject_of(request: Any) -> LogSubject | None:
    """None where it names more than one: the line would not say which of them failed."""
    for field in _fields_of(request.__class__):
        named = getattr(request, field)
        if named:
            break
    else:
        return None
    if not isinstance(named, str):
        if len(named) > 1:
            return None
        [named] = named
    if isinstance(named, str):
        name: str | bytes = named
    elif field == "resources":
        kind = RESOURCE_KINDS.get(named.resource_type)
        name = f"{named.resource_type if kind is None else kind.value} {named.resource_name}"
    else:
        name = getattr(named, "group_id", "") or getattr(named, "name", "")
        name = name or getattr(named, "topic", "") or getattr(named, "topic_id", "")
    if field in ("key", "coordinator_keys") and request.key_type != GROUP:
        return None
    return (_FIELDS[field], name) if name and name != NO_TOPIC_ID else None


@cache
def _fields_of(request: Hashable) -> list[str]:
    return [field for field in _FIELDS if hasattr(request, field)]
