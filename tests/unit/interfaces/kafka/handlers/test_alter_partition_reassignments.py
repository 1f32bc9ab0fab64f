from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for


@pytest.mark.parametrize("version", [0, 1])
def test_each_partition_has_its_own_code(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    kafka.topic("t", 3)
    replicas = [[1], [9], None, [1]]
    partitions = [{"partition_index": n, "replicas": r} for n, r in enumerate(replicas)]
    topic = {"name": "t", "partitions": partitions}
    request = request_for("alter_partition_reassignments", topics=[topic], timeout_ms=1)
    if version:
        request.allow_replication_factor_change = False
    response = client.request(request, version)
    assert (response.error_code, response.error_message) == (0, None)
    assert response.allow_replication_factor_change == (version == 0)
    [found] = response.responses
    assert [(one.partition_index, one.error_code) for one in found.partitions] == [
        (0, 0), (1, 39), (2, 85), (3, 3),
    ]  # fmt: skip
    assert [bool(one.error_message) for one in found.partitions] == [False, True, False, True]
    nothing = client.request(request_for("alter_partition_reassignments"), 1)
    assert (nothing.error_code, nothing.responses) == (0, [])
