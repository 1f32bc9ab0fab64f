from __future__ import annotations

import json
from typing import Any

import pytest

from domain.configs.broker import BrokerConfig
from interfaces.embed.records import Headers, entries_of
from interfaces.rest.routes.produce import JSON_GROWTH


@pytest.mark.parametrize(("key", "headers"), [("k" * 20_000, {}), (None, {"trace": "h" * 20_000})])
def test_a_large_key_or_header_counts_in_each_record_of_a_request(
    key: str | None, headers: Headers
) -> None:
    limit = BrokerConfig().message_max_bytes * JSON_GROWTH
    requests = list(entries_of(["coffee"] * 200, key, headers, None))
    assert sum(map(len, requests)) == 200
    for entries in requests:
        assert len(json.dumps({"entries": entries})) <= limit


@pytest.mark.parametrize(
    ("value", "key", "headers", "message"),
    [
        ({"item": "tea"}, None, (), "the value has to be bytes, text or None, not dict"),
        ("tea", 7, (), "the key has to be bytes, text or None, not int"),
        ("tea", None, [("n", 7)], "the value of a header has to be bytes, text or None, not int"),
        ("tea", None, ["n"], r"headers are pairs, as \[\(\"name\", b\"value\"\)\]"),
    ],
)
def test_what_a_record_cannot_have_is_named(
    value: Any, key: Any, headers: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        list(entries_of([value], key, headers, None))
