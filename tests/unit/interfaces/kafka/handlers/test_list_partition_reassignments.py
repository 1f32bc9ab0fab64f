from __future__ import annotations

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for


def test_no_partition_is_being_reassigned(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t")
    names = ("t", "absent")
    topics = [{"name": name, "partition_indexes": [0]} for name in names]
    for requested in (topics, None):
        response = client.request(request_for("list_partition_reassignments", topics=requested), 0)
        assert (response.error_code, response.error_message, response.topics) == (0, None, [])
