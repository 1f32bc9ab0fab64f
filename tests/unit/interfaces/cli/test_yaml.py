from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from interfaces.cli.yaml import as_yaml

PLAIN = st.none() | st.booleans() | st.integers() | st.text()
THINGS = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(THINGS)
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    assert yaml.safe_load(as_yaml(value)) == value


@pytest.mark.parametrize(
    "text",
    ["yes", "No", "null", "~", "1", "1.5", "2026-01-31", "a: b", "# x", "- a", "", "é", "\x85"],
)
def test_a_text_stays_a_text(text: str) -> None:
    assert yaml.safe_load(as_yaml([text])) == [text]


def test_it_looks_like_yaml() -> None:
    value = {"name": "orders", "partitions": [{"id": 0, "isr": [1]}], "configs": {}}
    assert as_yaml(value).splitlines() == [
        "name: orders",
        "partitions:",
        "  - id: 0",
        "    isr:",
        "      - 1",
        "configs: {}",
    ]
