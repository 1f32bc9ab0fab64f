"""ConfigEntry: one config of a resource with its value and its synonyms, as DescribeConfigs has it.

Synonyms in other units (hours for milliseconds) are listed as Kafka lists them: only from the place
where the first synonym itself is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import dropwhile

from domain.configs.broker import BrokerConfig
from domain.configs.settings.definition import Definition, Source, Synonym, Value


class ConfigEntry:
    __slots__ = ("definition", "read_only", "synonyms", "value")

    def __init__(
        self,
        definition: Definition,
        value: Value,
        synonyms: Iterable[Synonym],
        read_only: bool = False,
    ) -> None:
        self.definition = definition
        self.value = value
        #: By precedence.
        self.synonyms = list(synonyms)
        self.read_only = read_only

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def text(self) -> str | None:
        return None if self.definition.sensitive else self.definition.format(self.value)

    @property
    def source(self) -> Source:
        """The source of the value."""
        return self.synonyms[0].source if self.synonyms else Source.DEFAULT


def broker_entry(definition: Definition, broker: BrokerConfig) -> ConfigEntry:
    name = definition.name
    synonyms = broker.synonyms(definition.synonyms or (name,))
    return ConfigEntry(
        definition, broker.value(name), _from(name, synonyms), read_only=not definition.dynamic
    )


def all_brokers_entries(broker: BrokerConfig) -> list[ConfigEntry]:
    """The settings that are set for all brokers."""
    return [
        ConfigEntry(
            definition,
            definition.parse(broker.dynamic_default[name]),
            [Synonym(name, broker.dynamic_default[name], Source.DYNAMIC_DEFAULT_BROKER)],
        )
        for name, definition in broker.definitions.items()
        if name in broker.dynamic_default
    ]


def topic_entry(
    definition: Definition, value: Value, overrides: Mapping[str, str], broker: BrokerConfig
) -> ConfigEntry:
    synonyms: list[Synonym] = []
    if definition.name in overrides:
        synonyms = [Synonym(definition.name, definition.format(value), Source.TOPIC)]
    if definition.synonyms:
        synonyms += _from(definition.synonyms[0], broker.synonyms(definition.synonyms))
    return ConfigEntry(definition, value, synonyms)


def group_entry(definition: Definition, value: Value, overrides: Mapping[str, str]) -> ConfigEntry:
    source = Source.GROUP if definition.name in overrides else Source.DEFAULT
    return ConfigEntry(
        definition, value, [Synonym(definition.name, definition.format(value), source)]
    )


def _from(name: str, synonyms: Iterable[Synonym]) -> Iterable[Synonym]:
    return dropwhile(lambda one: one.name != name, synonyms)
