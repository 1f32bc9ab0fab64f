"""Which configs of a request have no effect, or only part of it, by the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from domain.configs.alteration import Alteration, Operation
from domain.configs.broker import BrokerConfig
from domain.configs.group import GROUP_CONFIGS
from domain.configs.resource import ResourceKind
from domain.configs.settings.definition import Definition
from domain.configs.topic_table import TOPIC_CONFIGS

TABLES: dict[ResourceKind, dict[str, Definition]] = {
    ResourceKind.TOPIC: TOPIC_CONFIGS,
    ResourceKind.BROKER: BrokerConfig.definitions,
    ResourceKind.GROUP: GROUP_CONFIGS,
}


def without_effect(kind: ResourceKind, configs: Mapping[str, str | None]) -> list[Definition]:
    """None: not set."""
    table = TABLES.get(kind, {})
    return [
        table[name]
        for name, text in configs.items()
        if text is not None and name in table and table[name].lacks_effect(text)
    ]


def altered_without_effect(
    kind: ResourceKind, alterations: Iterable[Alteration]
) -> list[Definition]:
    """An appended text is checked like a whole value."""
    added: dict[str, str | None] = {}
    for name, operation, text in alterations:
        if operation is Operation.SET:
            added[name] = text
        elif operation is Operation.APPEND and (items := text.rstrip(",")):
            added[name] = items
    return without_effect(kind, added)
