"""The group, resource or topic in the log line of a request, and responses that are no failures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interfaces.kafka.requests.log_subject import log_subject_of
from interfaces.kafka.wire.schema import Request
from tests.fakes.classic_members import join_all
from tests.fakes.classic_requests import heartbeat_request
from tests.fakes.client import FakeKafka
from tests.fakes.config_requests import TOPIC, replaced
from tests.fakes.logs import FakeRequestLog
from tests.fakes.mixed_group import Modern, classic
from tests.fakes.plain_requests import REQUESTS
from tests.fakes.structs import request_for

GROUP = ("group", "g")


@pytest.mark.parametrize(
    ("request_", "subject"),
    [
        (heartbeat_request(1, "m"), GROUP),
        (request_for("delete_groups", groups_names=["g"]), GROUP),
        (request_for("offset_fetch", groups=[{"group_id": "g", "topics": None}]), GROUP),
        (request_for("find_coordinator", key="g"), GROUP),
        (request_for("find_coordinator", coordinator_keys=["g"]), GROUP),
        (replaced((TOPIC, "t", {})), ("resource", "topic t")),
        # Several, none, or a transactional id:
        (request_for("describe_groups", groups=["g", "h"]), None),
        (request_for("find_coordinator", coordinator_keys=["g", "h"]), None),
        (request_for("find_coordinator", key_type=1, coordinator_keys=["t"]), None),
        (request_for("find_coordinator", key_type=1, key="t"), None),
        (request_for("delete_topics", topic_names=["a", "b"]), None),
        (request_for("delete_topics", topic_names=[]), None),
    ],
)
def test_a_log_line_has_the_one_group_or_resource_of_its_request(
    request_: Request, subject: tuple[str, str] | None
) -> None:
    assert log_subject_of(request_) == subject


@pytest.mark.parametrize(
    ("api", "version"),
    [
        *(("produce", 12), ("fetch", 12), ("list_offsets", 9), ("delete_topics", 5)),
        *(("delete_topics", 6), ("create_partitions", 3), ("delete_records", 2)),
        ("offset_for_leader_epoch", 4),
    ],
)
def test_a_failed_request_for_one_topic_is_logged_with_its_name(api: str, version: int) -> None:
    kafka = FakeKafka(FakeRequestLog(enabled=True))
    kafka.client().request(REQUESTS[api](version), version)
    [record] = kafka.request_log.records
    assert record.log_subject == ("topic", "t")


# ---- no failures


def classic_group(kafka: FakeKafka) -> None:
    join_all(classic(kafka))


def consumer_group(kafka: FakeKafka) -> None:
    Modern(kafka).join()


@pytest.mark.parametrize(
    ("create", "describe", "version"),
    [
        (classic_group, lambda *ids: request_for("consumer_group_describe", group_ids=[*ids]), 0),
        (consumer_group, lambda *ids: request_for("describe_groups", groups=[*ids]), 6),
    ],
)
def test_describing_a_group_of_the_other_protocol_is_no_failure(
    create: Callable[[FakeKafka], None], describe: Callable[..., Request], version: int
) -> None:
    """Clients try both APIs. Loading is no failure either."""
    kafka = FakeKafka(FakeRequestLog(enabled=True, slow_ns=1 << 62))
    kafka.topic("t")
    create(kafka)
    client = kafka.client()
    for group_id, logged in (("g", []), ("unknown", [(69,)])):
        kafka.request_log.records.clear()
        [group] = client.request(describe(group_id), version).groups
        assert group.error_code == 69
        assert [one.error_codes for one in kafka.request_log.records] == logged
    kafka.request_log.records.clear()
    kafka.broker.groups.offsets.loaded = False
    assert (
        client.request(request_for("describe_groups", groups=["g"]), 6).groups[0].error_code == 14
    )
    assert kafka.request_log.records == []
