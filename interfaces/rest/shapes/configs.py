"""Configs as JSON: of topics, of this broker, of all brokers."""

from __future__ import annotations

from typing import Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from domain.configs.alteration import Alteration, Operation
from domain.configs.entry import ConfigEntry
from domain.configs.settings.definition import Definition, Source
from interfaces.rest.shapes.common import Asked, ListMetadata, Metadata, resource
from interfaces.rest.urls import Urls

#: As Confluent's server and Kafka's admin client name them.
SOURCES: dict[Source, str] = {
    Source.TOPIC: "DYNAMIC_TOPIC_CONFIG",
    Source.GROUP: "DYNAMIC_GROUP_CONFIG",
    Source.DYNAMIC_BROKER: "DYNAMIC_BROKER_CONFIG",
    Source.DYNAMIC_DEFAULT_BROKER: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    Source.STATIC_BROKER: "STATIC_BROKER_CONFIG",
    Source.DEFAULT: "DEFAULT_CONFIG",
}

OPERATIONS = {operation.name: operation for operation in Operation}


class SetConfig(Asked):
    #: null: as by default.
    value: str | None


class AlterConfig(Asked):
    name: str
    value: str | None = None
    #: null, as generated clients send what is not set: SET.
    operation: Literal["SET", "DELETE", "APPEND", "SUBTRACT"] | None = None

    def alteration(self) -> Alteration:
        operation = OPERATIONS[self.operation or "SET"]
        if operation is Operation.SET and self.value is None:
            operation = Operation.DELETE
        return Alteration(self.name, operation, self.value or "")


class AlterConfigs(Asked):
    data: list[AlterConfig] = Field(min_length=1)
    validate_only: bool = False


class Synonym(TypedDict):
    name: str
    value: str | None
    source: str


class ConfigBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    topic_name: NotRequired[str]
    broker_id: NotRequired[int]
    config_type: NotRequired[str]
    name: str
    value: str | None
    type: str
    is_default: bool
    is_read_only: bool
    is_sensitive: bool
    source: str
    effect: str
    synonyms: list[Synonym]


class ConfigList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[ConfigBody]


class Owner:
    """Whose configs they are: what they are called, and where they are."""

    __slots__ = ("kind", "path", "said")

    def __init__(self, kind: str, path: tuple[str | int, ...], said: dict[str, str | int]) -> None:
        self.kind = kind
        self.path = path
        self.said = said


def of_topic(name: str) -> Owner:
    return Owner("KafkaTopicConfig", ("topics", name, "configs"), {"topic_name": name})


def of_broker(node_id: int) -> Owner:
    return Owner("KafkaBrokerConfig", ("brokers", node_id, "configs"), {"broker_id": node_id})


OF_CLUSTER = Owner("KafkaClusterConfig", ("broker-configs",), {"config_type": "BROKER"})


def config_body(owner: Owner, entry: ConfigEntry, urls: Urls) -> ConfigBody:
    named = [(name.rpartition("_")[0], value) for name, value in owner.said.items()]
    body: ConfigBody = {
        "kind": owner.kind,
        "metadata": {
            "self": urls(*owner.path, entry.name),
            "resource_name": resource(urls.cluster_id, *named, ("config", entry.name)),
        },
        "cluster_id": urls.cluster_id,
        "name": entry.name,
        "value": entry.text,
        "type": entry.definition.kind.value,
        "is_default": entry.source is Source.DEFAULT,
        "is_read_only": entry.read_only,
        "is_sensitive": entry.definition.sensitive,
        "source": SOURCES[entry.source],
        "effect": entry.definition.effect.value,
        "synonyms": [
            {"name": one.name, "value": one.text, "source": SOURCES[one.source]}
            for one in entry.synonyms
        ],
    }
    return cast(ConfigBody, body | owner.said)


class SettingBody(TypedDict):
    """One row of a table of settings or configs, for forms and for people."""

    name: str
    type: str
    default: str | None
    documentation: str
    allowed: str
    unit: str
    effect: str
    is_read_only: bool
    is_sensitive: bool
    value: NotRequired[str | None]
    source: NotRequired[str]
    origin: NotRequired[str]


class SettingList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[SettingBody]


def setting_body(definition: Definition, read_only: bool, default: str | None) -> SettingBody:
    return {
        "name": definition.name,
        "type": definition.kind.value,
        "default": default,
        "documentation": definition.documentation,
        "allowed": definition.allowed(),
        "unit": definition.unit,
        "effect": definition.effect.value,
        "is_read_only": read_only,
        "is_sensitive": definition.sensitive,
    }
