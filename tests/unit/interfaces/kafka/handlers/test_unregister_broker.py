"""Unknown brokers are in tests/oracle. A Kafka of one broker is lost with its registration."""

from __future__ import annotations

from tests.fakes.client import FakeClient
from tests.fakes.structs import request_for


def test_a_live_broker_stays_registered(client: FakeClient) -> None:
    response = client.request(request_for("unregister_broker", broker_id=1), 0)
    assert (response.error_code, response.error_message) == (
        42,
        "Broker ID 1 is alive: stop it first",
    )
    cluster = client.request(request_for("describe_cluster"), 2)
    assert [one.broker_id for one in cluster.brokers] == [1]
