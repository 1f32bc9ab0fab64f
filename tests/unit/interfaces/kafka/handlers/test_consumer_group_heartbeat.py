from __future__ import annotations

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for


def join(client: FakeClient, member_id: str) -> int:
    """The error code."""
    request = request_for(
        "consumer_group_heartbeat",
        group_id="g",
        member_id=member_id,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    code: int = client.request(request, 1).error_code
    return code


def test_settings_limit_the_members_and_the_protocols() -> None:
    full = FakeKafka(group_consumer_max_size="1").client()
    assert [join(full, member_id) for member_id in ("m", "n")] == [0, 81]
    classic_only = FakeKafka(group_coordinator_rebalance_protocols="classic").client()
    assert join(classic_only, "m") == 35
