"""Configs that were kept and cannot be used: another version of Ottla may know or allow them.

They count for nothing, and stay in the store until a client names them.
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
    kept: Configs, check: Callable[[Configs], None], events: EventLog, resource: Resource
) -> tuple[Configs, Configs]:
    """Those that can be used, and those that cannot; each of these is told of, once a start."""
    used: dict[str, str] = {}
    unused: dict[str, str] = {}
    for name, text in kept.items():
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
