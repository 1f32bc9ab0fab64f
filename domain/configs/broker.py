"""BrokerConfig: THE table of broker settings, one row an attribute, in a file for each subject.

The names are Kafka's own where Kafka has one. A key of Kafka's that is not here has no effect and
is named in one warning at start; it never stops the broker, so that an existing server.properties
or Compose file works as it is. The attribute is the key with dots as underscores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from domain.configs.settings.admin import AdminSettings
from domain.configs.settings.definition import Definition, SetSomewhere, Source, Value
from domain.configs.settings.durability import DurabilitySettings
from domain.configs.settings.groups import GroupSettings
from domain.configs.settings.identity import IdentitySettings
from domain.configs.settings.limits import LimitSettings
from domain.configs.settings.log import LogSettings
from domain.configs.settings.telemetry import TelemetrySettings
from domain.configs.settings.topic_defaults import TopicDefaults
from domain.configs.settings.topics import TopicSettings
from domain.errors import InvalidConfig


class BrokerConfig(
    IdentitySettings,
    AdminSettings,
    DurabilitySettings,
    TopicSettings,
    LimitSettings,
    GroupSettings,
    LogSettings,
    TelemetrySettings,
    TopicDefaults,
):
    """All settings with their values; `given` are those somebody set, as text.

    Raises InvalidConfig for the first value that is not allowed. Names it does not know are not
    its business.
    """

    definitions: ClassVar[dict[str, Definition]]

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self.given: Mapping[str, str] = dict(given or {})
        #: What was set while the broker runs: for this one, and for all.
        self.own: Mapping[str, str] = {}
        self.of_all: Mapping[str, str] = {}
        #: Rises with every change, so that what was made from the settings can be kept.
        self.revision = 0
        for definition in self.definitions.values():
            self._read(definition)

    def configure(self, own: Mapping[str, str], of_all: Mapping[str, str]) -> None:
        """What is set from now on while the broker runs; only dynamic settings change by it."""
        self.own = own
        self.of_all = of_all
        self.revision += 1
        for definition in self.definitions.values():
            if definition.dynamic:
                self._read(definition)

    def _read(self, definition: Definition) -> None:
        name = definition.name
        value = definition.default
        for texts in (self.own, self.of_all, self.given):
            if (text := texts.get(name)) is not None:
                value = definition.parse(text)
                break
        setattr(self, attribute_of(name), value)

    def value(self, name: str) -> Value:
        """The value by the setting's name; InvalidConfig when there is no such setting."""
        if name not in self.definitions:
            raise InvalidConfig(f"Unknown broker setting: {name}")
        value: Value = getattr(self, attribute_of(name))
        return value

    def set_somewhere(self, names: Sequence[str]) -> Iterator[SetSomewhere]:
        """Where any of these settings is set, that which counts first; the defaults come last."""
        layers = (
            (self.own, Source.DYNAMIC_BROKER),
            (self.of_all, Source.DYNAMIC_DEFAULT_BROKER),
            (self.given, Source.STATIC_BROKER),
        )
        for texts, source in layers:
            for name in names:
                if name in texts:
                    yield SetSomewhere(name, self._shown(name, texts[name]), source)
        for name in names:
            definition = self.definitions[name]
            if (text := definition.format(definition.default)) is not None:
                yield SetSomewhere(name, self._shown(name, text), Source.DEFAULT)

    def _shown(self, name: str, text: str) -> str | None:
        return None if self.definitions[name].sensitive else text


def attribute_of(name: str) -> str:
    return name.replace(".", "_")


BrokerConfig.definitions = {
    row.name: row
    for table in BrokerConfig.__bases__
    for row in vars(table).values()
    if isinstance(row, Definition)
}
