"""Persisted configs that this version cannot use: another version of Ottla has set them.

They have no effect, and stay in the store until a client alters them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from application.ports.event_log import EventLog
from domain.configs.alteration import Alteration
from domain.configs.resource import Resource
from domain.errors import BrokerError

Configs = Mapping[str, str]

NOTHING: Configs = {}


def split_unusable(
    persisted: Configs, check: Callable[[Configs], None], events: EventLog, resource: Resource
) -> tuple[Configs, Configs]:
    """Splits usable and unusable configs; each unusable one is logged at start."""
    used: dict[str, str] = {}
    unused: dict[str, str] = {}
    for name, text in persisted.items():
        try:
            check({name: text})
        except BrokerError as refused:
            events.warning(
                "config_unused",
                resource=resource.kind.value,
                name=resource.name,
                error=refused.message,
            )
            unused[name] = text
        else:
            used[name] = text
    return used, unused


def still_unused(unused: Configs, alterations: Sequence[Alteration], replaces: bool) -> Configs:
    if replaces or not unused:
        return NOTHING
    named = {alteration.name for alteration in alterations}
    return {name: text for name, text in unused.items() if name not in named}
