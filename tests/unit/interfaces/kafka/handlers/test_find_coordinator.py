from __future__ import annotations

import base64

import pytest

from interfaces.kafka.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from tests.fakes.client import FakeKafka

TOPIC_ID = base64.urlsafe_b64encode(b"0123456789abcdef").rstrip(b"=").decode()


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize("key", ["g", ""])
def test_up_to_version_3_one_key_is_coordinated_here(version: int, key: str) -> None:
    answer = FakeKafka(node_id="5").client().ask(FindCoordinatorRequest(key=key), version)
    message = "NONE" if version else ""
    assert answer == FindCoordinatorResponse(
        error_message=message, node_id=5, host="192.0.2.1", port=9092
    )


@pytest.mark.parametrize("version", range(4, 7))
def test_from_version_4_many_keys_are(version: int) -> None:
    asked = FindCoordinatorRequest(coordinator_keys=["a", "", "a"])
    answer = FakeKafka(node_id="5").client().ask(asked, version)
    assert answer.coordinators == [
        Coordinator(key=key, node_id=5, host="192.0.2.1", port=9092) for key in ("a", "", "a")
    ]


@pytest.mark.parametrize("version", range(1, 7))
def test_a_transactional_id_is_refused_in_words_that_the_log_has_too(version: int) -> None:
    kafka = FakeKafka()
    keys = ["mine", "yours"] if version >= 4 else []
    asked = FindCoordinatorRequest(key="" if keys else "mine", key_type=1, coordinator_keys=keys)
    answer = kafka.client().ask(asked, version)
    for told in answer.coordinators if keys else [answer]:
        assert (told.error_code, told.node_id) == (53, -1)
        assert "Transactions are not supported" in told.error_message
    [event] = kafka.events.of("transactional_id_refused")
    assert event["transactional_id"] == ("mine, yours" if keys else "mine")
    assert event["client_id"] == "a-client"


@pytest.mark.parametrize("version", range(1, 7))
@pytest.mark.parametrize("kind", [-1, 3])
def test_a_kind_of_coordinator_that_does_not_exist_is_malformed(version: int, kind: int) -> None:
    keys = ["a"] if version >= 4 else []
    asked = FindCoordinatorRequest(key="" if keys else "a", key_type=kind, coordinator_keys=keys)
    answer = FakeKafka().client().ask(asked, version)
    told = answer.coordinators[0] if version >= 4 else answer
    assert (told.error_code, told.node_id, told.host, told.port) == (42, -1, "", -1)
    assert "malformed" in told.error_message


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
def test_the_key_of_a_share_group_names_group_topic_and_partition(
    version: int, key: str, code: int
) -> None:
    asked = FindCoordinatorRequest(key_type=2, coordinator_keys=[key])
    (told,) = FakeKafka().client().ask(asked, version).coordinators
    assert (told.key, told.error_code) == (key, code)
