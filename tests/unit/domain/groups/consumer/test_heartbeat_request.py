from __future__ import annotations

from typing import Any

import pytest

from domain.errors import BrokerError, InvalidRequest, UnsupportedAssignor
from domain.groups.consumer.heartbeat_request import Heartbeat, check_heartbeat

ASSIGNORS = ("uniform", "range")
JOIN: dict[str, Any] = {
    "member_id": "a",
    "epoch": 0,
    "rebalance_timeout_ms": 5,
    "topics": frozenset("t"),
    "owned": {},
}


def refusal(group_id: str = "g", members_make_ids: bool = True, **said: Any) -> BrokerError | None:
    try:
        check_heartbeat(group_id, Heartbeat(**said), members_make_ids, ASSIGNORS)
    except BrokerError as error:
        return error
    return None


def test_a_whole_join_is_in_order() -> None:
    assert refusal(**JOIN) is None
    assert refusal(**(JOIN | {"topics": None, "regex": "t.*"})) is None
    assert refusal(**(JOIN | {"topics": frozenset()})) is None


def test_where_the_broker_makes_ids_a_join_needs_none() -> None:
    assert refusal(members_make_ids=False, **(JOIN | {"member_id": ""})) is None
    assert refusal(members_make_ids=True, **(JOIN | {"member_id": ""})) is not None


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"member_id": " ", "group_id": ""}, "MemberId can't be empty."),
        ({"group_id": ""}, "GroupId can't be empty."),
        ({"instance_id": "", "rack_id": ""}, "InstanceId can't be empty."),
        ({"rack_id": ""}, "RackId can't be empty."),
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ({"owned": None}, "TopicPartitions must be empty when (re-)joining."),
        ({"owned": {b"t": frozenset({1})}}, "TopicPartitions must be empty when (re-)joining."),
        (
            {"topics": None},
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
            "(re-)joining.",
        ),
        ({"epoch": -2}, "InstanceId can't be null."),
        ({"epoch": -3}, "MemberEpoch is invalid."),
    ],
)
def test_what_contradicts_itself_is_refused_in_kafkas_words(
    said: dict[str, Any], message: str
) -> None:
    error = refusal(**(JOIN | said))
    assert isinstance(error, InvalidRequest)
    assert error.message == message


@pytest.mark.parametrize("epoch", [-1, 1])
def test_who_stays_or_leaves_has_an_id(epoch: int) -> None:
    error = refusal(members_make_ids=False, member_id="", epoch=epoch)
    assert isinstance(error, InvalidRequest)


def test_an_assignor_that_is_not_there_is_refused() -> None:
    error = refusal(**(JOIN | {"server_assignor": "sticky"}))
    assert isinstance(error, UnsupportedAssignor)
    assert error.message == (
        "ServerAssignor sticky is not supported. Supported assignors: uniform, range."
    )
