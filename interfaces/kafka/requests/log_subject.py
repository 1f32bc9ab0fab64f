"""The subject of a request in the log: its one group, config resource or topic."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

from domain.configs.resource import RESOURCE_KINDS
from domain.topics.topic import NO_TOPIC_ID

#: The key type of a group in FindCoordinator.
GROUP = 0

#: A field of the log line and its value; for a topic the value may be its id.
LogSubject = tuple[str, str | bytes]

#: Fields of requests, with the log field of the names in them; the first non-empty one counts.
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
    """None if the request names several: the log line would not show which one failed."""
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
