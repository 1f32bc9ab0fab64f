from __future__ import annotations

import json

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
