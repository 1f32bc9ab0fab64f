"""Alteration: one change of one config, and what becomes of a resource's configs by several.

Decided here, kept by the application: nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from domain.configs.broker import BrokerConfig
from domain.configs.settings.definition import Definition, Kind
from domain.errors import BrokerError, InvalidConfig, InvalidRequest


class Operation(Enum):
    SET = "set"
    DELETE = "delete"
    APPEND = "append"
    SUBTRACT = "subtract"


class Alteration(NamedTuple):
    name: str
    operation: Operation
    #: Not looked at by DELETE.
    text: str


#: Why something that is no list cannot be appended to.
NoList = Callable[[Alteration], BrokerError]


def no_list(alteration: Alteration) -> BrokerError:
    operation = alteration.operation.name
    return InvalidConfig(
        f"Can't {operation} to key {alteration.name} because its type is not LIST."
    )


def altered(
    current: Mapping[str, str],
    alterations: Iterable[Alteration],
    definitions: Mapping[str, Definition],
    no_list: NoList = no_list,
) -> dict[str, str]:
    """All that is set afterwards; what the values may be is for others to say."""
    configs = dict(current)
    for alteration in alterations:
        name, operation, text = alteration
        if operation is Operation.DELETE:
            configs.pop(name, None)
        elif operation is Operation.SET:
            configs[name] = text
        else:
            definition = definitions.get(name)
            if definition is None or definition.kind is not Kind.LIST:
                raise no_list(alteration)
            before = current.get(name)
            if before is None:
                before = definition.format(definition.default) or ""
            configs[name] = ",".join(_combined(before, alteration))
    return configs


def _combined(before: str, alteration: Alteration) -> list[str]:
    """As Kafka does it: blanks belong to an item, and nothing appended is an empty item."""
    items = [item for item in before.split(",") if item]
    for item in _java_split(alteration.text):
        if alteration.operation is Operation.SUBTRACT:
            if item in items:
                items.remove(item)
        elif item not in items:
            items.append(item)
    return items


def _java_split(text: str) -> list[str]:
    """Without empty items at the end, but for a text that is empty itself."""
    items = text.split(",")
    while len(items) > 1 and not items[-1]:
        items.pop()
    return items if text.strip(",") or not text else []


# ---- brokers


def altered_broker_configs(
    current: Mapping[str, str], alterations: Iterable[Alteration]
) -> dict[str, str]:
    """Of one broker, or of all; only what may change while it runs."""

    def no_list(alteration: Alteration) -> BrokerError:
        return InvalidConfig(
            f"Config value {alteration.operation.value} is not allowed for config key: "
            f"{alteration.name}"
        )

    alterations = list(alterations)
    for alteration in alterations:
        known = alteration.name in BrokerConfig.definitions
        if not known and alteration.operation is not Operation.DELETE:
            # Kafka takes it, as it may be meant for a plugin. There are none here.
            raise InvalidConfig(f"Unknown broker config name: {alteration.name}")
    configs = altered(current, alterations, BrokerConfig.definitions, no_list)
    validate_broker_configs(configs)
    return configs


def validate_broker_configs(configs: Mapping[str, str]) -> None:
    """With Kafka's code: its brokers call it a wrong request, where topics have a wrong config."""
    definitions = BrokerConfig.definitions
    fixed = sorted(name for name in configs if not definitions[name].dynamic)
    if fixed:
        raise InvalidRequest(f"Cannot update these configs dynamically: Set({', '.join(fixed)})")
    for name, text in configs.items():
        try:
            definitions[name].parse(text)
        except InvalidConfig as refused:
            raise InvalidRequest(refused.message) from None
