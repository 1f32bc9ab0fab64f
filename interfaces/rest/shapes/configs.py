"""Configs of topics, of this broker and of all brokers, as JSON."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from domain.configs.alteration import Alteration, Operation
from domain.configs.entry import ConfigEntry
from domain.configs.resource import ALL_BROKERS, ResourceKind
from domain.configs.resource import Resource as ConfigResource
from domain.configs.settings.definition import Source
from interfaces.rest.shapes.common import Head, RequestModel, Resource, body, example, fields
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


class SetConfig(RequestModel, json_schema_extra=example(value="1")):
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


class AlterConfigs(
    RequestModel,
    json_schema_extra=example(
        data=[
            {"name": "min.insync.replicas", "value": "1"},
            {"name": "compression.type", "operation": "DELETE"},
        ]
    ),
):
    data: list[AlterConfig] = Field(min_length=1)
    validate_only: bool = False


class Synonym(TypedDict):
    name: str
    value: Annotated[str | None, attrgetter("text")]
    source: Annotated[str, lambda synonym: SOURCES[synonym.source]]


class ConfigBody(Resource):
    topic_name: NotRequired[str]
    broker_id: NotRequired[int]
    config_type: NotRequired[str]
    name: str
    value: Annotated[str | None, attrgetter("text")]
    type: Annotated[str, attrgetter("definition.kind.value")]
    is_default: Annotated[bool, lambda entry: entry.source is Source.DEFAULT]
    is_read_only: Annotated[bool, attrgetter("read_only")]
    is_sensitive: Annotated[bool, attrgetter("definition.sensitive")]
    source: Annotated[str, lambda entry: SOURCES[entry.source]]
    effect: Annotated[str, attrgetter("definition.effect.word")]
    synonyms: Annotated[list[Synonym], lambda entry: [fields(Synonym, s) for s in entry.synonyms]]


class Owner(NamedTuple):
    """A topic, this broker or all brokers, and how REST names its configs."""

    head: Head
    #: The fields of a config that name its owner.
    fields: dict[str, str | int]
    resource: ConfigResource


def of_topic(name: str) -> Owner:
    head = Head("KafkaTopicConfig", "topics/{topic_name}/configs/{name}")
    return Owner(head, {"topic_name": name}, ConfigResource(ResourceKind.TOPIC, name))


def of_broker(node_id: int) -> Owner:
    head = Head("KafkaBrokerConfig", "brokers/{broker_id}/configs/{name}")
    resource = ConfigResource(ResourceKind.BROKER, str(node_id))
    return Owner(head, {"broker_id": node_id}, resource)


OF_CLUSTER = Owner(
    Head("KafkaClusterConfig", "broker-configs/{name}"), {"config_type": "BROKER"}, ALL_BROKERS
)


def config_body(owner: Owner, entry: ConfigEntry, urls: Urls) -> dict[str, Any]:
    return body(ConfigBody, urls, entry, head=owner.head, **owner.fields) | owner.fields


class SettingBody(TypedDict):
    """A setting of the broker or a config of a topic, with its documentation."""

    name: str
    type: Annotated[str, attrgetter("kind.value")]
    default: str | None
    documentation: str
    allowed: Annotated[str, lambda definition: definition.allowed()]
    unit: str
    effect: Annotated[str, attrgetter("effect.word")]
    is_read_only: bool
    is_sensitive: Annotated[bool, attrgetter("sensitive")]
    value: NotRequired[str | None]
    source: NotRequired[str]
    origin: NotRequired[str]
