"""Topics as JSON, in the shapes of Confluent's v3; requests may use shorter names too."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, NotRequired

from pydantic import AliasChoices, BeforeValidator, Field

from domain.topics.topic import text_of_id
from interfaces.rest.faults import expected
from interfaces.rest.shapes.common import (
    Related,
    RequestModel,
    Resource,
    example,
    resource,
)

Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Setting = str | int | float | bool | None


class ConfigValue(RequestModel):
    name: str
    value: str | None = None


def _check_values(configs: object) -> object:
    """Names the config of an object; the message of the whole union would not."""
    for name, value in configs.items() if isinstance(configs, dict) else ():
        if isinstance(value, dict | list):
            raise ValueError(
                f'the value of {name} must be a string (a list is "a,b"), a number or a boolean'
            )
    return configs


Configs = Annotated[
    list[ConfigValue] | dict[str, Setting],
    expected('an object of names and values, or an array of {"name", "value"}'),
    BeforeValidator(_check_values),
]


class ReplicasAssignment(RequestModel):
    partition_id: Int32
    broker_ids: list[Int32]


class CreateTopic(
    RequestModel,
    json_schema_extra=example(
        name="payments", partitions_count=3, configs={"max.message.bytes": 2000000}
    ),
):
    topic_name: str = Field(validation_alias=AliasChoices("name", "topic_name"))
    partitions_count: Int32 | None = Field(
        None, validation_alias=AliasChoices("partitions_count", "partitions")
    )
    replication_factor: Int32 | None = None
    replicas_assignments: list[ReplicasAssignment] = Field(default=[])
    configs: Configs = Field(default=[])
    validate_only: bool = False


class ChangeTopic(
    RequestModel,
    json_schema_extra=example(partitions_count=6, configs={"max.message.bytes": None}),
):
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


@resource("KafkaTopic", "topics/{topic_name}")
class TopicBody(Resource):
    topic_name: Annotated[str, attrgetter("name")]
    topic_id: Annotated[str, lambda topic: text_of_id(topic.topic_id)]
    is_internal: bool
    #: The brokers that may lead a partition; they hold no copies.
    replication_factor: int
    partitions_count: Annotated[int, lambda topic: len(topic.partition_ids)]
    partitions: Annotated[Related, "/partitions"]
    configs: Annotated[Related, "/configs"]
    partition_reassignments: Annotated[Related, "/partitions/-/reassignment"]
    #: Only in the response to a request that sets configs without effect: a sentence for each.
    warnings: NotRequired[list[str]]
