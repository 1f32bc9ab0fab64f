from __future__ import annotations

import pytest

from interfaces.kafka.handlers.shared.authorized_operations import NOT_REQUESTED
from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from tests.fakes.client import FakeKafka


@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_this_broker(version: int) -> None:
    kafka = FakeKafka(node_id="5", broker_rack="r1")
    response = kafka.client().ask(DescribeClusterRequest(), version)
    assert (response.error_code, response.error_message) == (0, None)
    assert (response.cluster_id, response.controller_id) == (kafka.broker.cluster_id, 5)
    ((broker),) = response.brokers
    assert (broker.broker_id, broker.host, broker.port) == (5, "192.0.2.1", 9092)
    assert (broker.rack, broker.is_fenced) == ("r1", False)
    assert response.cluster_authorized_operations == NOT_REQUESTED


@pytest.mark.parametrize(("endpoint_type", "code"), [(1, 0), (2, 114), (0, 115), (3, 115)])
def test_a_brokers_listener_knows_brokers_only(endpoint_type: int, code: int) -> None:
    request = DescribeClusterRequest(endpoint_type=endpoint_type)
    response = FakeKafka().client().ask(request, 1)
    assert (response.error_code, len(response.brokers)) == (code, 0 if code else 1)
    assert bool(response.error_message) == bool(code)


def test_operations_are_told_to_who_asks_for_them() -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    response = FakeKafka().client().ask(request, 0)
    assert response.cluster_authorized_operations > 0
