"""Alteration: one change of one config, and the configs of a resource after several.

Decided here, persisted by the application: nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from domain.configs.broker import BrokerConfig
from domain.configs.ip_overrides import parse_ip_overrides
from domain.configs.listeners import check_advertised, parse_addresses
from domain.configs.settings.absent import why_absent
from domain.configs.settings.definition import Definition, Kind, Value
from domain.configs.topic_table import not_a_setting
from domain.errors import BrokerError, InvalidConfig, InvalidRequest


class Operation(Enum):
    SET = "set"
    DELETE = "delete"
    APPEND = "append"
    SUBTRACT = "subtract"


class Alteration(NamedTuple):
    name: str
    operation: Operation
    #: Ignored by DELETE.
    text: str


#: The refusal of APPEND and SUBTRACT for a config that is not a list.
NotList = Callable[[Alteration], BrokerError]


def not_list(alteration: Alteration) -> BrokerError:
    operation = alteration.operation.name
    return InvalidConfig(
        f"Can't {operation} to key {alteration.name} because its type is not LIST."
    )


def altered(
    current: Mapping[str, str],
    alterations: Iterable[Alteration],
    definitions: Mapping[str, Definition],
    not_list: NotList = not_list,
) -> dict[str, str]:
    """All configs that are set afterwards; the caller validates the values."""
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
                raise not_list(alteration)
            before = current.get(name)
            if before is None:
                before = definition.format(definition.default) or ""
            configs[name] = ",".join(_combined(before, alteration))
    return configs


def _combined(before: str, alteration: Alteration) -> list[str]:
    """As in Kafka: blanks belong to an item, and an empty text appends an empty item."""
    items = [item for item in before.split(",") if item]
    for item in _java_split(alteration.text):
        if alteration.operation is Operation.SUBTRACT:
            if item in items:
                items.remove(item)
        elif item not in items:
            items.append(item)
    return items


def _java_split(text: str) -> list[str]:
    """String.split: without empty items at the end, unless the text is empty."""
    items = text.split(",")
    while len(items) > 1 and not items[-1]:
        items.pop()
    return items if text.strip(",") or not text else []


# ---- brokers

_ADVERTISED = "advertised.listeners"
_IP_OVERRIDES = "max.connections.per.ip.overrides"


def altered_broker_configs(
    current: Mapping[str, str],
    alterations: Iterable[Alteration],
    broker: BrokerConfig,
    *,
    for_all: bool,
) -> dict[str, str]:
    """The dynamic settings of one broker, or of all brokers (`for_all`)."""

    def not_list(alteration: Alteration) -> BrokerError:
        return InvalidConfig(
            f"Config value {alteration.operation.value} is not allowed for config key: "
            f"{alteration.name}"
        )

    alterations = list(alterations)
    for alteration in alterations:
        known = alteration.name in BrokerConfig.definitions
        if not known and alteration.operation is not Operation.DELETE:
            # Kafka accepts it, as it may belong to a plugin. There are none here.
            if (reason := why_absent(alteration.name)) is not None:
                raise InvalidConfig(f"{alteration.name} has no effect in this broker: {reason}")
            unknown = f"Unknown broker config name: {alteration.name}"
            raise InvalidConfig(not_a_setting(alteration.name) or unknown)
    configs = altered(current, alterations, BrokerConfig.definitions, not_list)
    validate_broker_configs(configs, broker, for_all=for_all)
    return configs


def validate_broker_configs(
    configs: Mapping[str, str], broker: BrokerConfig, *, for_all: bool
) -> None:
    """Raises InvalidRequest, Kafka's code for broker configs; topics have InvalidConfig."""
    definitions = BrokerConfig.definitions
    fixed = sorted(name for name in configs if not definitions[name].dynamic)
    if fixed:
        raise InvalidRequest(f"Cannot update these configs dynamically: Set({', '.join(fixed)})")
    if for_all and _ADVERTISED in configs:
        raise InvalidRequest(
            "Cannot update these configs at default cluster level, broker id must be specified: "
            f"Set({_ADVERTISED})"
        )
    for name, text in configs.items():
        try:
            value = definitions[name].parse(text)
            if name == _ADVERTISED:
                _check_advertised(value, broker)
            elif name == _IP_OVERRIDES:
                _check_ip_overrides(text)
        except InvalidConfig as refused:
            raise InvalidRequest(refused.message) from None


def _check_advertised(value: Value, broker: BrokerConfig) -> None:
    assert isinstance(value, tuple)
    try:
        check_advertised(value, parse_addresses(broker.listeners))
    except ValueError as failure:
        definition = BrokerConfig.definitions[_ADVERTISED]
        raise definition.refused(definition.format(value), f"Expected {failure}") from None


def _check_ip_overrides(text: str) -> None:
    try:
        parse_ip_overrides(text.strip())
    except ValueError as failure:
        raise BrokerConfig.definitions[_IP_OVERRIDES].refused(text, f"Expected {failure}") from None
