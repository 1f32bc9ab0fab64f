from __future__ import annotations

from domain.configs.broker import BrokerConfig
from domain.configs.topic_table import TOPIC_CONFIGS
from interfaces.main.settings.docs import render


def test_every_setting_and_every_topic_config_has_one_row() -> None:
    """A separator in a text would break its row."""
    rows = [line for line in render().splitlines() if line.startswith("| `")]
    names = [row.split("`")[1] for row in rows]
    for name in (*BrokerConfig.definitions, *TOPIC_CONFIGS):
        assert names.count(name) == (name in BrokerConfig.definitions) + (name in TOPIC_CONFIGS)
    assert {row.count("|") for row in rows} == {6, 7}
