"""THE table of group configs: those that Kafka 4.2 has for consumer groups.

They apply to groups of the consumer protocol; members of a classic group bring their own timeouts.
The default of each is the value of its broker setting. Configs of share and streams groups are not
here, because such groups are not served.
"""

from __future__ import annotations

from collections.abc import Mapping

from domain.configs.broker import BrokerConfig, attribute_of
from domain.configs.entry import ConfigEntry, group_entry
from domain.configs.settings.definition import Definition, Kind
from domain.errors import InvalidConfig

SESSION_TIMEOUT = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL = "consumer.heartbeat.interval.ms"

_PREFIX = "group."


def _row(name: str, default: int, doc: str) -> Definition:
    synonyms = (_PREFIX + name,)
    return Definition(
        name, Kind.INT, default, doc, minimum=1, unit="ms", synonyms=synonyms, dynamic=True
    )


GROUP_CONFIGS: dict[str, Definition] = {
    row.name: row
    for row in (
        _row(HEARTBEAT_INTERVAL, 5000, "The heartbeat interval of the members of the group."),
        _row(
            SESSION_TIMEOUT,
            45000,
            "A member that sends no heartbeat for so long is removed from the group.",
        ),
    )
}


class GroupConfig:
    """The configs of a consumer group, resolved; never changed in place."""

    __slots__ = ("consumer_heartbeat_interval_ms", "consumer_session_timeout_ms")

    def __init__(
        self,
        *,
        consumer_session_timeout_ms: int = 45000,
        consumer_heartbeat_interval_ms: int = 5000,
    ) -> None:
        self.consumer_session_timeout_ms = consumer_session_timeout_ms
        self.consumer_heartbeat_interval_ms = consumer_heartbeat_interval_ms


def resolve_group_config(overrides: Mapping[str, str], broker: BrokerConfig) -> GroupConfig:
    return GroupConfig(
        consumer_session_timeout_ms=group_value(SESSION_TIMEOUT, overrides, broker),
        consumer_heartbeat_interval_ms=group_value(HEARTBEAT_INTERVAL, overrides, broker),
    )


def group_value(name: str, overrides: Mapping[str, str], broker: BrokerConfig) -> int:
    definition = GROUP_CONFIGS[name]
    text = overrides.get(name)
    value = broker.value(definition.synonyms[0]) if text is None else definition.parse(text)
    assert isinstance(value, int)
    return value


def describe_group_configs(overrides: Mapping[str, str], broker: BrokerConfig) -> list[ConfigEntry]:
    return [
        group_entry(definition, group_value(name, overrides, broker), overrides)
        for name, definition in GROUP_CONFIGS.items()
    ]


def validate_group_configs(overrides: Mapping[str, str], broker: BrokerConfig) -> None:
    """Refuses what Kafka refuses: values outside the broker's bounds, or in conflict."""
    check_group_configs(overrides)
    config = resolve_group_config(overrides, broker)
    _check_bounds(HEARTBEAT_INTERVAL, config.consumer_heartbeat_interval_ms, broker)
    _check_bounds(SESSION_TIMEOUT, config.consumer_session_timeout_ms, broker)
    if config.consumer_session_timeout_ms <= config.consumer_heartbeat_interval_ms:
        raise InvalidConfig(f"{SESSION_TIMEOUT} must be greater than {HEARTBEAT_INTERVAL}")


def check_group_configs(overrides: Mapping[str, str]) -> None:
    """Raises InvalidConfig for an unknown name or a malformed value."""
    for name in overrides:
        if name not in GROUP_CONFIGS:
            raise InvalidConfig(f"Unknown group config name: {name}")
    for name, text in overrides.items():
        GROUP_CONFIGS[name].parse(text)


def _check_bounds(name: str, value: int, broker: BrokerConfig) -> None:
    protocol, _, setting = name.partition(".")
    least, most = (f"{_PREFIX}{protocol}.{bound}.{setting}" for bound in ("min", "max"))
    if value < getattr(broker, attribute_of(least)):
        raise InvalidConfig(f"{name} must be greater than or equal to {least}")
    if value > getattr(broker, attribute_of(most)):
        raise InvalidConfig(f"{name} must be less than or equal to {most}")
