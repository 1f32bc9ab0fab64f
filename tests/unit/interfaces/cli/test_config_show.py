from __future__ import annotations

import json
import tomllib

import pytest

from domain.configs.settings.definition import Definition, Kind
from interfaces.cli.config_show import Row, as_json, as_rows, as_toml

URL = Definition("url", Kind.STRING, None, "", sensitive=True)
ROWS = [
    Row(URL, "db://me:hush@host/x", "file x"),
    Row(Definition("unset", Kind.STRING, None, ""), None, "default"),
    Row(Definition("list", Kind.LIST, (), ""), ("a", "b"), "default"),
]


def test_what_is_not_set_or_lacks_its_password_is_a_comment() -> None:
    lines = [line.rpartition("  # ") for line in as_toml(ROWS, origin=True).splitlines()]
    assert [(line.rstrip(), origin) for line, _, origin in lines] == [
        ('# "url" = "db://me:***@host/x" (fill in the password)', "file x"),
        ('# "unset" is not set', "default"),
        ('"list" = ["a", "b"]', "default"),
    ]


@pytest.mark.parametrize("url", ["sqlite:///srv/o.db", "postgresql://me@host/x?sslmode=require"])
def test_a_url_without_a_password_is_printed_to_be_used(url: str) -> None:
    assert tomllib.loads(as_toml([Row(URL, url, "file x")], origin=True)) == {"url": url}


def test_a_url_with_a_password_is_not_taken_from_what_was_printed() -> None:
    assert tomllib.loads(as_toml(ROWS, origin=True)) == {"list": ["a", "b"]}


def test_programs_and_tables_have_a_row_for_each() -> None:
    assert as_rows(ROWS) == [
        {"name": "url", "value": "db://me:***@host/x", "origin": "file x"},
        {"name": "unset", "value": None, "origin": "default"},
        {"name": "list", "value": ["a", "b"], "origin": "default"},
    ]


def test_json_always_says_where_a_value_came_from() -> None:
    assert json.loads(as_json(ROWS)) == {
        "url": {"value": "db://me:***@host/x", "origin": "file x"},
        "unset": {"value": None, "origin": "default"},
        "list": {"value": ["a", "b"], "origin": "default"},
    }
