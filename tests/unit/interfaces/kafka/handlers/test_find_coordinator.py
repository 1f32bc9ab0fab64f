from __future__ import annotations

import base64
from typing import Any

import pytest

from interfaces.kafka.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
)
from tests.fakes.client import FakeClient

TOPIC_ID = base64.urlsafe_b64encode(b"0123456789abcdef").rstrip(b"=").decode()


def find(client: FakeClient, version: int, kind: int, *keys: str) -> list[Any]:
    """The coordinators; up to version 3 the response has only one."""
    if version >= 4:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=list(keys))
        found: list[Any] = client.request(request, version).coordinators
        return found
    return [client.request(FindCoordinatorRequest(key=keys[0], key_type=kind), version)]


@pytest.mark.parametrize(
    ("version", "key", "code"),
    [
        (5, f"g:{TOPIC_ID}:0", 42),
        (6, f"g:{TOPIC_ID}:0", 0),
        (6, f"g:{TOPIC_ID}", 42),
        (6, f"g:{TOPIC_ID}:x", 42),
        (6, f":{TOPIC_ID}:0", 42),
        (6, "g:topic:0", 42),
        (6, "g", 42),
    ],
)
def test_the_key_of_a_share_group_has_group_topic_and_partition(
    client: FakeClient, version: int, key: str, code: int
) -> None:
    (found,) = find(client, version, 2, key)
    assert (found.key, found.error_code) == (key, code)
