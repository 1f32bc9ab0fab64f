from __future__ import annotations

import tomllib

import pytest

from domain.configs.settings.definition import Definition, Kind
from interfaces.cli.config_show import Row, as_rows, as_toml

URL = Definition("url", Kind.STRING, None, "", sensitive=True)
ROWS = [
    Row(URL, "db://me:hush@host/x", "file x"),
    Row(Definition("unset", Kind.STRING, None, ""), None, "default"),
    Row(Definition("list", Kind.LIST, (), ""), ("a", "b"), "default"),
]


def test_toml_has_comments_for_unset_settings_and_for_urls_with_a_password() -> None:
    toml = as_toml(ROWS, origin=True)
    lines = [line.rpartition("  # ") for line in toml.splitlines()]
    assert [(line.rstrip(), origin) for line, _, origin in lines] == [
        ('# "url" = "db://me:***@host/x" (fill in the password)', "file x"),
        ('# "unset" is not set', "default"),
        ('"list" = ["a", "b"]', "default"),
    ]
    assert tomllib.loads(toml) == {"list": ["a", "b"]}


@pytest.mark.parametrize("url", ["sqlite:///srv/o.db", "postgresql://me@host/x?sslmode=require"])
def test_toml_has_urls_without_a_password(url: str) -> None:
    assert tomllib.loads(as_toml([Row(URL, url, "file x")], origin=True)) == {"url": url}


def test_rows_have_name_value_and_origin() -> None:
    assert as_rows(ROWS) == [
        {"name": "url", "value": "db://me:***@host/x", "origin": "file x"},
        {"name": "unset", "value": None, "origin": "default"},
        {"name": "list", "value": ["a", "b"], "origin": "default"},
    ]
