"""ConfigEntry: one config of a resource as it stands, and everywhere it is set.

Where a config has a counterpart among the broker's settings, its default is what that one is. The
places where it is set are told as Kafka tells them: those of the counterpart's other units (hours
for milliseconds) only from where the counterpart itself is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import dropwhile

from domain.configs.broker import BrokerConfig
from domain.configs.settings.definition import Definition, SetSomewhere, Source, Value


class ConfigEntry:
    __slots__ = ("definition", "read_only", "set_in", "value")

    def __init__(
        self,
        definition: Definition,
        value: Value,
        set_in: Iterable[SetSomewhere],
        read_only: bool = False,
    ) -> None:
        self.definition = definition
        self.value = value
        #: That which counts first.
        self.set_in = list(set_in)
        self.read_only = read_only

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def text(self) -> str | None:
        return None if self.definition.sensitive else self.definition.format(self.value)

    @property
    def source(self) -> Source:
        """Who decided the value."""
        return self.set_in[0].source if self.set_in else Source.DEFAULT


def broker_entry(definition: Definition, broker: BrokerConfig) -> ConfigEntry:
    name = definition.name
    set_in = broker.set_somewhere(definition.synonyms or (name,))
    return ConfigEntry(
        definition, broker.value(name), _from(name, set_in), read_only=not definition.dynamic
    )


def all_brokers_entries(broker: BrokerConfig) -> list[ConfigEntry]:
    """Only what is set for all of them."""
    return [
        ConfigEntry(
            definition,
            definition.parse(broker.of_all[name]),
            [SetSomewhere(name, broker.of_all[name], Source.DYNAMIC_DEFAULT_BROKER)],
        )
        for name, definition in broker.definitions.items()
        if name in broker.of_all
    ]


def topic_entry(
    definition: Definition, value: Value, overrides: Mapping[str, str], broker: BrokerConfig
) -> ConfigEntry:
    set_in: list[SetSomewhere] = []
    if definition.name in overrides:
        set_in = [SetSomewhere(definition.name, definition.format(value), Source.TOPIC)]
    if definition.synonyms:
        counterpart = definition.synonyms[0]
        set_in += _from(counterpart, broker.set_somewhere(definition.synonyms))
    return ConfigEntry(definition, value, set_in)


def group_entry(definition: Definition, value: Value, overrides: Mapping[str, str]) -> ConfigEntry:
    source = Source.GROUP if definition.name in overrides else Source.DEFAULT
    return ConfigEntry(
        definition, value, [SetSomewhere(definition.name, definition.format(value), source)]
    )


def _from(name: str, set_in: Iterable[SetSomewhere]) -> Iterable[SetSomewhere]:
    return dropwhile(lambda one: one.name != name, set_in)
