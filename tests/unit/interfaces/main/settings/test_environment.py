from __future__ import annotations

import pytest

from interfaces.main.settings.environment import settings_from_environment


@pytest.mark.parametrize(
    "environment, settings",
    [
        # Names as in Kafka's image
        ({"KAFKA_ABC_DEF": "x"}, {"abc.def": "x"}),
        ({"KAFKA_ABC__DEF": "x"}, {"abc_def": "x"}),
        ({"KAFKA_ABC___DEF": "x"}, {"abc-def": "x"}),
        ({"CLUSTER_ID": "abc"}, {"cluster.id": "abc"}),
        # Our prefix wins
        ({"CLUSTER_ID": "abc", "OTTLA_CLUSTER_ID": "def"}, {"cluster.id": "def"}),
        ({"KAFKA_NODE_ID": "2", "OTTLA_NODE_ID": "3"}, {"node.id": "3"}),
        # No settings: of the JVM, empty, of others
        ({"KAFKA_HEAP_OPTS": "-Xmx1g", "KAFKA_OPTS": "x"}, {}),
        ({"OTTLA_NUM_PARTITIONS": "", "HOME": "/x"}, {}),
    ],
)
def test_settings_are_read_from_variables(
    environment: dict[str, str], settings: dict[str, str]
) -> None:
    found = settings_from_environment(environment)
    assert {name: setting.text for name, setting in found.items()} == settings
