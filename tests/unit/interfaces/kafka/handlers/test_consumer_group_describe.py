from __future__ import annotations

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.plain_requests import REQUESTS
from tests.fakes.structs import request_for


def test_a_deleted_topic_is_not_in_an_assignment(kafka: FakeKafka, client: FakeClient) -> None:
    topic = kafka.topic("t", 1)
    client.request(REQUESTS["consumer_group_heartbeat"](1), 1)
    kafka.broker.catalog.remove(topic)
    [group] = client.request(request_for("consumer_group_describe", group_ids=["g"]), 1).groups
    assert group.members[0].assignment.topic_partitions == []
