"""What a request concerns: the group or the resource that its log line names, or the topic.

Decided once, when a route is made, by the fields that its request has: whatever has none of them,
Produce and Fetch above all, goes to its handler as it is. The topic is looked for only when a
request has failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interfaces.kafka.call import Call
from interfaces.kafka.config_numbers import RESOURCE_KINDS
from interfaces.kafka.wire.schema import Message, Response

#: What FindCoordinator calls a key of this kind.
GROUP = 0

Handler = Callable[[Any, Call], Response | None]
Named = tuple[str, str] | None


def telling_what(request: type[Message], handle: Handler) -> Handler:
    looks = [look for field, look in _LOOKS.items() if hasattr(request, field)]
    if not looks:
        return handle

    def named(request: Any, call: Call) -> Response | None:
        for look in looks:
            concerned = look(request)
            if concerned is not None:
                call.about = concerned
        return handle(request, call)

    return named


def the_topic(request: Any) -> Named:
    """The only one, where it has a name: some versions give ids instead."""
    for field in _TOPICS:
        topics = getattr(request, field, None)
        if topics:
            break
    else:
        return None
    if len(topics) > 1:
        return None
    one = topics[0]
    name = one if isinstance(one, str) else getattr(one, "name", "") or getattr(one, "topic", "")
    return ("topic", name) if name else None


def _group_id(request: Any) -> Named:
    return ("group", request.group_id) if request.group_id else None


def _only(field: str) -> Callable[[Any], Named]:
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
_LOOKS: dict[str, Callable[[Any], Named]] = {
    "group_id": _group_id,
    "groups": _only("groups"),
    "groups_names": _only("groups_names"),
    "group_ids": _only("group_ids"),
    "coordinator_keys": _key,
    "resources": _resource,
}
