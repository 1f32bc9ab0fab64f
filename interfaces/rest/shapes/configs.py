"""Configs of topics, of this broker and of all brokers, as JSON."""

from __future__ import annotations

from typing import Literal, NamedTuple, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from domain.configs.alteration import Alteration, Operation
from domain.configs.entry import ConfigEntry
from domain.configs.resource import ALL_BROKERS, ResourceKind
from domain.configs.resource import Resource as ConfigResource
from domain.configs.settings.definition import Definition, Source
from interfaces.rest.shapes.common import RequestModel, Resource, resource
from interfaces.rest.urls import Urls

#: The names of Confluent's server and of Kafka's admin client.
SOURCES: dict[Source, str] = {
    Source.TOPIC: "DYNAMIC_TOPIC_CONFIG",
    Source.GROUP: "DYNAMIC_GROUP_CONFIG",
    Source.DYNAMIC_BROKER: "DYNAMIC_BROKER_CONFIG",
    Source.DYNAMIC_DEFAULT_BROKER: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    Source.STATIC_BROKER: "STATIC_BROKER_CONFIG",
    Source.DEFAULT: "DEFAULT_CONFIG",
}

OPERATIONS = {operation.name: operation for operation in Operation}


class SetConfig(RequestModel):
    #: null: the default.
    value: str | None


class AlterConfig(RequestModel):
    name: str
    value: str | None = None
    #: null means SET: generated clients send null for fields that are not set.
    operation: Literal["SET", "DELETE", "APPEND", "SUBTRACT"] | None = None

    def alteration(self) -> Alteration:
        operation = OPERATIONS[self.operation or "SET"]
        if operation is Operation.SET and self.value is None:
            operation = Operation.DELETE
        return Alteration(self.name, operation, self.value or "")


class AlterConfigs(RequestModel):
    data: list[AlterConfig] = Field(min_length=1)
    validate_only: bool = False


class Synonym(TypedDict):
    name: str
    value: str | None
    source: str


class ConfigBody(Resource):
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


class Owner(NamedTuple):
    """A topic, this broker or all brokers, and how REST names its configs."""

    kind: str
    path: tuple[str | int, ...]
    #: The fields of a config that name its owner.
    fields: dict[str, str | int]
    resource: ConfigResource


def of_topic(name: str) -> Owner:
    resource = ConfigResource(ResourceKind.TOPIC, name)
    return Owner("KafkaTopicConfig", ("topics", name, "configs"), {"topic_name": name}, resource)


def of_broker(node_id: int) -> Owner:
    resource = ConfigResource(ResourceKind.BROKER, str(node_id))
    path = ("brokers", node_id, "configs")
    return Owner("KafkaBrokerConfig", path, {"broker_id": node_id}, resource)


OF_CLUSTER = Owner(
    "KafkaClusterConfig", ("broker-configs",), {"config_type": "BROKER"}, ALL_BROKERS
)


def config_body(owner: Owner, entry: ConfigEntry, urls: Urls) -> ConfigBody:
    body = {
        **resource(owner.kind, urls, *owner.path, entry.name),
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
    return cast(ConfigBody, body | owner.fields)


class SettingBody(TypedDict):
    """A setting of the broker or a config of a topic, with its documentation."""

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
