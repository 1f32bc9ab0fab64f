from __future__ import annotations

import pytest

from domain.configs.topic_table import TOPIC_CONFIGS
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.topic_requests import create, new


@pytest.mark.parametrize("version", [2, 4, 5, 6, 7])
def test_a_topic_is_created_and_described(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """With its configs from version 5 on, with its id from version 7 on."""
    (created,) = create(client, new("t", -1, -1, retention_ms="77"), version=version)
    assert (created.name, created.error_code, created.error_message) == ("t", 0, None)
    assert created.topic_id == (kafka.existing().topic_id if version >= 7 else bytes(16))
    if version < 5:
        return
    assert (created.num_partitions, created.replication_factor) == (4, 1)
    configs = {one.name: (one.value, one.config_source) for one in created.configs}
    assert configs.keys() == TOPIC_CONFIGS.keys()
    assert configs["retention.ms"] == ("77", 1)
    assert configs["cleanup.policy"] == ("delete", 5)
