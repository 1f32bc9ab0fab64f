"""Topics as JSON, in Confluent's v3 shapes; what is asked may be shorter."""

from __future__ import annotations

from base64 import urlsafe_b64encode

from pydantic import AliasChoices, Field
from typing_extensions import TypedDict

from domain.topics.topic import Topic
from interfaces.rest.shapes.common import Asked, Metadata, Related
from interfaces.rest.urls import Urls


class ConfigValue(Asked):
    name: str
    value: str | None = None


class ReplicasAssignment(Asked):
    partition_id: int
    broker_ids: list[int]


Setting = str | int | float | bool | None


class CreateTopic(Asked):
    topic_name: str = Field(validation_alias=AliasChoices("topic_name", "name"))
    partitions_count: int | None = Field(
        None, validation_alias=AliasChoices("partitions_count", "partitions"), lt=2**31
    )
    replication_factor: int | None = None
    replicas_assignments: list[ReplicasAssignment] = Field(default=[])
    configs: list[ConfigValue] | dict[str, Setting] = Field(default=[])
    validate_only: bool = False

    def texts(self) -> dict[str, str | None]:
        if isinstance(self.configs, dict):
            return {name: as_text(value) for name, value in self.configs.items()}
        return {config.name: config.value for config in self.configs}


def as_text(value: Setting) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


class TopicBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    topic_name: str
    topic_id: str
    is_internal: bool
    replication_factor: int
    partitions_count: int
    partitions: Related
    configs: Related
    partition_reassignments: Related


def topic_body(topic: Topic, cluster_id: str, urls: Urls) -> TopicBody:
    url = urls("topics", topic.name)
    return {
        "kind": "KafkaTopic",
        "metadata": {
            "self": url,
            "resource_name": f"crn:///kafka={cluster_id}/topic={topic.name}",
        },
        "cluster_id": cluster_id,
        "topic_name": topic.name,
        "topic_id": _as_kafka_writes(topic.topic_id),
        "is_internal": False,
        "replication_factor": 1,
        "partitions_count": len(topic.partition_ids),
        "partitions": {"related": f"{url}/partitions"},
        "configs": {"related": f"{url}/configs"},
        "partition_reassignments": {"related": f"{url}/partitions/-/reassignment"},
    }


def _as_kafka_writes(topic_id: bytes) -> str:
    return urlsafe_b64encode(topic_id).rstrip(b"=").decode()
