"""What a request concerns: the group or the resource that its log line names, or the topic.

Decided once, when a route is made, by the fields that its request has: whatever has none of them,
Produce and Fetch above all, goes to its handler as it is. The topic is looked for when a request
has failed, or is one of those that are remembered. Where it is given by its id, its name is looked
up by whoever shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.topics.topic import NO_TOPIC_ID
from interfaces.kafka.requests.config_numbers import RESOURCE_KINDS
from interfaces.kafka.wire.schema import Message

#: What FindCoordinator calls a key of this kind.
GROUP = 0

#: A field and its value.
About = tuple[str, str | bytes]
Named = About | None
Look = Callable[[Any], Named]


def about_of(request: type[Message]) -> Look | None:
    looks = [look for field, look in _LOOKS.items() if hasattr(request, field)]
    if len(looks) < 2:
        return looks[0] if looks else None

    def last_named(request: Any) -> Named:
        named = None
        for look in looks:
            named = look(request) or named
        return named

    return last_named


def the_topic(request: Any) -> Named:
    """The only one, by its name or its id."""
    for field in _TOPICS:
        topics = getattr(request, field, None)
        if topics:
            break
    else:
        return None
    if len(topics) > 1:
        return None
    one = topics[0]
    if isinstance(one, str):
        return ("topic", one) if one else None
    name = getattr(one, "name", "") or getattr(one, "topic", "")
    if name:
        return "topic", name
    topic_id = getattr(one, "topic_id", NO_TOPIC_ID)
    return ("topic", topic_id) if topic_id != NO_TOPIC_ID else None


def _group_id(request: Any) -> Named:
    return ("group", request.group_id) if request.group_id else None


def _only(field: str) -> Look:
    """Of some groups; a line with many of them would tell nothing of which one failed."""

    def look(request: Any) -> Named:
        groups = getattr(request, field)
        if not groups or len(groups) > 1:
            return None
        one = groups[0]
        return "group", one if isinstance(one, str) else one.group_id

    return look


def _key(request: Any) -> Named:
    """Whose coordinator is looked for; not that of a transaction."""
    keys = request.coordinator_keys or [request.key]
    of_a_group = request.key_type == GROUP and len(keys) == 1 and keys[0]
    return ("group", keys[0]) if of_a_group else None


def _resource(request: Any) -> Named:
    if not request.resources or len(request.resources) > 1:
        return None
    one = request.resources[0]
    kind = RESOURCE_KINDS.get(one.resource_type)
    return "resource", f"{one.resource_type if kind is None else kind.value} {one.resource_name}"


#: Fields with what is asked of each topic, or with its name.
_TOPICS = ("topics", "topic_data", "topic_names")

#: By the field that says it.
_LOOKS: dict[str, Look] = {
    "group_id": _group_id,
    "groups": _only("groups"),
    "groups_names": _only("groups_names"),
    "group_ids": _only("group_ids"),
    "coordinator_keys": _key,
    "resources": _resource,
}
