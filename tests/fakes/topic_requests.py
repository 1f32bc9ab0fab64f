"""Short builders of CreateTopics."""

from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.fakes.client import FakeClient
from tests.fakes.structs import build


def new(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    assignments: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    """Configs have underscores instead of dots."""
    dotted = {key.replace("_", "."): value for key, value in configs.items()}
    return creatable(name, partitions, replicas, assignments, dotted)


def creatable(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    assignments: dict[int, list[int]] | None = None,
    configs: dict[str, str | None] | None = None,
) -> CreatableTopic:
    fields = {
        "name": name,
        "num_partitions": partitions,
        "replication_factor": replicas,
        "assignments": [
            {"partition_index": index, "broker_ids": brokers}
            for index, brokers in (assignments or {}).items()
        ],
        "configs": [{"name": key, "value": value} for key, value in (configs or {}).items()],
    }
    return build(CreatableTopic, fields)


def create(
    client: FakeClient, *topics: CreatableTopic, version: int = 7, only: bool = False
) -> Any:
    request = CreateTopicsRequest(topics=list(topics), validate_only=only)
    return client.request(request, version).topics


def codes(results: Any) -> list[tuple[str | None, int]]:
    return [(one.name, one.error_code) for one in results]
