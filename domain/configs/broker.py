"""BrokerConfig: THE table of broker settings, one row an attribute, in a file for each subject.

Names are Kafka's where Kafka has the setting. An unknown key has no effect and is named in one
warning at start; it does not stop the broker, so that an existing server.properties or Compose file
works unchanged. The attribute is the key with dots as underscores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from domain.configs.listeners import parse_addresses
from domain.configs.settings.access import AccessSettings
from domain.configs.settings.admin import AdminSettings
from domain.configs.settings.cleaner import CleanerSettings
from domain.configs.settings.cluster import ClusterSettings
from domain.configs.settings.definition import Definition, Source, Synonym, Value
from domain.configs.settings.durability import DurabilitySettings
from domain.configs.settings.groups import GroupSettings
from domain.configs.settings.identity import IdentitySettings
from domain.configs.settings.leaders import LeaderSettings
from domain.configs.settings.limits import LimitSettings
from domain.configs.settings.log import LogSettings
from domain.configs.settings.quotas import QuotaSettings
from domain.configs.settings.raw import RawSettings
from domain.configs.settings.sasl import SaslSettings
from domain.configs.settings.security import SecuritySettings
from domain.configs.settings.telemetry import TelemetrySettings
from domain.configs.settings.topics import TopicSettings
from domain.configs.settings.transactions import TransactionSettings
from domain.configs.topic_table import broker_settings
from domain.errors import InvalidConfig


class BrokerConfig(
    IdentitySettings,
    AdminSettings,
    RawSettings,
    DurabilitySettings,
    ClusterSettings,
    TopicSettings,
    LeaderSettings,
    CleanerSettings,
    LimitSettings,
    SecuritySettings,
    AccessSettings,
    SaslSettings,
    QuotaSettings,
    GroupSettings,
    TransactionSettings,
    LogSettings,
    TelemetrySettings,
):
    """All settings with their values; `given` has the static ones as text.

    Raises InvalidConfig for the first value that is not allowed; ignores unknown names.
    """

    definitions: ClassVar[dict[str, Definition]]

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self.given: Mapping[str, str] = dict(given or {})
        #: Dynamic settings: of this broker, and of all brokers.
        self.dynamic: Mapping[str, str] = {}
        self.dynamic_default: Mapping[str, str] = {}
        #: Rises with every change: a key for caches of what depends on settings.
        self.revision = 0
        for definition in self.definitions.values():
            self._read(definition)

    def configure(self, dynamic: Mapping[str, str], dynamic_default: Mapping[str, str]) -> None:
        """Replaces the dynamic settings; the values of other settings do not change."""
        self.dynamic = dynamic
        self.dynamic_default = dynamic_default
        self.revision += 1
        for definition in self.definitions.values():
            if definition.dynamic:
                self._read(definition)

    def _read(self, definition: Definition) -> None:
        name = definition.name
        value = definition.default
        for texts in (self.dynamic, self.dynamic_default, self.given):
            if (text := texts.get(name)) is not None:
                value = definition.parse(text)
                break
        setattr(self, attribute_of(name), value)

    def value(self, name: str) -> Value:
        """Raises InvalidConfig for an unknown name."""
        if name not in self.definitions:
            raise InvalidConfig(f"Unknown broker setting: {name}")
        value: Value = getattr(self, attribute_of(name))
        return value

    def advertised(self, listener: str, port: int) -> tuple[str, int] | None:
        """The address in metadata; None: the one that each client connected to.

        `port` is that of the listener.
        """
        address = parse_addresses(self.advertised_listeners).get(listener)
        return None if address is None else (address.host, address.port or port)

    def synonyms(self, names: Sequence[str]) -> Iterator[Synonym]:
        """Where any of these settings is set, by precedence; defaults come last."""
        layers = (
            (self.dynamic, Source.DYNAMIC_BROKER),
            (self.dynamic_default, Source.DYNAMIC_DEFAULT_BROKER),
            (self.given, Source.STATIC_BROKER),
        )
        for texts, source in layers:
            for name in names:
                if name in texts:
                    yield Synonym(name, self._shown(name, texts[name]), source)
        for name in names:
            definition = self.definitions[name]
            if (text := definition.format(definition.default)) is not None:
                yield Synonym(name, self._shown(name, text), Source.DEFAULT)

    def _shown(self, name: str, text: str) -> str | None:
        return None if self.definitions[name].sensitive else text


def attribute_of(name: str) -> str:
    return name.replace(".", "_")


_TABLES = [row for table in BrokerConfig.__bases__ for row in vars(table).values()]
BrokerConfig.definitions = {row.name: row for row in _TABLES if isinstance(row, Definition)}
for _row in broker_settings():
    # message.max.bytes has a row of its own.
    BrokerConfig.definitions.setdefault(_row.name, _row)
