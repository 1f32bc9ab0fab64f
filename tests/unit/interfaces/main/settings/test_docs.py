from __future__ import annotations

from domain.configs.broker import BrokerConfig
from domain.configs.topic_table import TOPIC_CONFIGS
from interfaces.main.settings.docs import render


def test_every_setting_and_every_topic_config_has_one_row() -> None:
    page = render()
    for name in (*BrokerConfig.definitions, *TOPIC_CONFIGS):
        rows = page.count(f"\n| `{name}` |")
        assert rows == (name in BrokerConfig.definitions) + (name in TOPIC_CONFIGS), name


def test_no_text_breaks_its_row() -> None:
    for line in render().splitlines():
        if line.startswith("| `"):
            assert line.count("|") in (6, 7), line
