"""Topics as JSON, in the shapes of Confluent's v3; requests may use shorter names too."""

from __future__ import annotations

from typing import Annotated, NotRequired, cast

from pydantic import AliasChoices, Field

from domain.topics.topic import Topic, text_of_id
from interfaces.rest.faults import expected
from interfaces.rest.shapes.common import Related, RequestModel, Resource, resource
from interfaces.rest.urls import Urls

Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Setting = str | int | float | bool | None


class ConfigValue(RequestModel):
    name: str
    value: str | None = None


Configs = Annotated[
    list[ConfigValue] | dict[str, Setting],
    expected('an object of names and values, or an array of {"name", "value"}'),
]


class ReplicasAssignment(RequestModel):
    partition_id: Int32
    broker_ids: list[Int32]


class CreateTopic(RequestModel):
    topic_name: str = Field(validation_alias=AliasChoices("topic_name", "name"))
    partitions_count: Int32 | None = Field(
        None, validation_alias=AliasChoices("partitions_count", "partitions")
    )
    replication_factor: Int32 | None = None
    replicas_assignments: list[ReplicasAssignment] = Field(default=[])
    configs: Configs = Field(default=[])
    validate_only: bool = False


class ChangeTopic(RequestModel):
    partitions_count: Int32 | None = Field(
        None, validation_alias=AliasChoices("partitions_count", "partitions")
    )
    configs: Configs = Field(default=[])
    validate_only: bool = False


def texts_of(configs: list[ConfigValue] | dict[str, Setting]) -> dict[str, str | None]:
    """None stands for the default."""
    if isinstance(configs, dict):
        return {name: _as_text(value) for name, value in configs.items()}
    return {config.name: config.value for config in configs}


def _as_text(value: Setting) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


class TopicBody(Resource):
    topic_name: str
    topic_id: str
    is_internal: bool
    replication_factor: int
    partitions_count: int
    partitions: Related
    configs: Related
    partition_reassignments: Related
    #: Only in the response to a request that sets configs without effect: a sentence for each.
    warnings: NotRequired[list[str]]


def topic_body(topic: Topic, urls: Urls, warnings: list[str] | None = None) -> TopicBody:
    url = urls("topics", topic.name)
    body = {
        **resource("KafkaTopic", urls, "topics", topic.name),
        "topic_name": topic.name,
        "topic_id": text_of_id(topic.topic_id),
        "is_internal": topic.is_internal,
        "replication_factor": 1,
        "partitions_count": len(topic.partition_ids),
        "partitions": {"related": f"{url}/partitions"},
        "configs": {"related": f"{url}/configs"},
        "partition_reassignments": {"related": f"{url}/partitions/-/reassignment"},
    }
    return cast(TopicBody, body | {"warnings": warnings} if warnings else body)
