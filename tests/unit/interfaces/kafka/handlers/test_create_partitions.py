from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for
from tests.fakes.topic_requests import codes


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.topic("u", 2)
    return kafka


def create(
    client: FakeClient,
    *topics: tuple[str, int, list[int] | None],
    version: int = 3,
    only: bool = False,
) -> Any:
    """Topics with their new count and the broker of the new partition."""
    requested = [
        {"name": name, "count": count, "assignments": brokers and [{"broker_ids": brokers}]}
        for name, count, brokers in topics
    ]
    request = request_for("create_partitions", topics=requested, validate_only=only)
    return codes(client.request(request, version).results)


@pytest.mark.parametrize("version", [0, 3])
def test_partitions_are_created_unless_the_request_is_validated_only(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    assert create(client, ("t", 4, None), version=version, only=True) == [("t", 0)]
    assert len(kafka.existing().partition_ids) == 2
    assert create(client, ("t", 4, None), version=version) == [("t", 0)]
    assert kafka.partition("t", 3).end.next_offset == 0
