from __future__ import annotations

import json

from domain.configs.definition import Definition, Kind
from interfaces.cli.config_show import Row, as_json, as_toml

ROWS = [
    Row(Definition("secret", Kind.STRING, None, "", sensitive=True), "hush", "file x"),
    Row(Definition("unset", Kind.STRING, None, ""), None, "default"),
    Row(Definition("list", Kind.LIST, (), ""), ("a", "b"), "default"),
]


def test_secrets_are_hidden_and_what_is_not_set_is_a_comment() -> None:
    assert as_toml(ROWS, origin=True).splitlines() == [
        '"secret" = "(hidden)"  # file x',
        '# "unset" is not set   # default',
        '"list" = ["a", "b"]    # default',
    ]


def test_json_always_says_where_a_value_came_from() -> None:
    assert json.loads(as_json(ROWS)) == {
        "secret": {"value": "(hidden)", "origin": "file x"},
        "unset": {"value": None, "origin": "default"},
        "list": {"value": ["a", "b"], "origin": "default"},
    }
