from __future__ import annotations

import pytest

from interfaces.kafka.handlers.shared.authorized_operations import NOT_REQUESTED
from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from tests.fakes.client import FakeKafka


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("included", [True, False])
def test_the_cluster_is_this_broker(version: int, included: bool) -> None:
    kafka = FakeKafka(node_id="5", broker_rack="r1")
    request = DescribeClusterRequest(include_cluster_authorized_operations=included)
    response = kafka.client().request(request, version)
    assert (response.error_code, response.error_message) == (0, None)
    assert (response.cluster_id, response.controller_id) == (kafka.broker.cluster_id, 5)
    ((broker),) = response.brokers
    assert (broker.broker_id, broker.host, broker.port) == (5, "192.0.2.1", 9092)
    assert (broker.rack, broker.is_fenced) == ("r1", False)
    assert (response.cluster_authorized_operations != NOT_REQUESTED) == included
