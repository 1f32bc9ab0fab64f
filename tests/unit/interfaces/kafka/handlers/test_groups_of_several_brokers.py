"""Groups and their offsets, where two brokers share a store: they go with the leaders."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.cluster_producer import ask
from tests.fakes.offset_requests import at, commit_codes, found, offset_commit
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.fakes.structs import request_for

NOT_AVAILABLE, NOT_COORDINATOR = 15, 16


@pytest.fixture
def shared() -> SharedStore:
    """All is led by broker 1."""
    shared = SharedStore()
    for node_id in (1, 2):
        shared.start(
            node_id,
            offsets_topic="on",
            offsets_topic_num_partitions="2",
            transaction_state_log_num_partitions="2",
            default_replication_factor="2",
        )
    shared.run()
    shared.topic("t", 2)
    return shared


def beat(broker: SharedBroker, epoch: int) -> Any:
    request = request_for(
        "consumer_group_heartbeat",
        group_id="g",
        member_id="m",
        member_epoch=epoch,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    return ask(broker, request, 1)


def commit(broker: SharedBroker, offset: int, epoch: int) -> int:
    request = offset_commit(
        "g", ("t", [at(0, offset)]), member_id="m", generation_id_or_member_epoch=epoch
    )
    [[(_, code)]] = commit_codes(ask(broker, request, 9), 9).values()
    return code


def committed(broker: SharedBroker) -> int:
    group = {"group_id": "g", "topics": None, "member_id": None, "member_epoch": -1}
    [response] = ask(broker, request_for("offset_fetch", groups=[group]), 9).groups
    assert not response.error_code
    return int(found(response)["t"][0][0])


def coordinator(broker: SharedBroker) -> int:
    request = request_for("find_coordinator", coordinator_keys=["g"])
    return int(ask(broker, request, 4).coordinators[0].node_id)


def test_a_group_goes_with_an_orderly_stop(shared: SharedStore) -> None:
    one, two = shared.brokers[1], shared.brokers[2]
    epoch = beat(one, 0).member_epoch
    assert (commit(one, 5, epoch), coordinator(two)) == (0, 1)
    assert (beat(two, epoch).error_code, commit(two, 6, epoch)) == (NOT_COORDINATOR,) * 2
    one.broker.hand_over_all()
    shared.run()
    assert (coordinator(one), coordinator(two)) == (2, 2)
    assert beat(one, epoch).error_code == NOT_COORDINATOR
    assert list(one.broker.groups.registry) == []
    continued = beat(two, epoch)
    assert (continued.error_code, continued.member_epoch, committed(two)) == (0, epoch, 5)
    assert commit(two, 6, epoch) == 0


def test_a_group_is_taken_over_from_a_broker_that_was_killed(shared: SharedStore) -> None:
    two = shared.brokers[2]
    epoch = beat(shared.brokers[1], 0).member_epoch
    commit(shared.brokers[1], 5, epoch)
    shared.kill(1)
    shared.fence(1)
    shared.advance(1000)
    assert coordinator(two) == 2
    continued = beat(two, epoch)
    assert (continued.error_code, continued.member_epoch, committed(two)) == (0, epoch, 5)


def test_a_broker_that_was_fenced_loads_its_groups_again(shared: SharedStore) -> None:
    one = shared.brokers[1]
    epoch = beat(one, 0).member_epoch
    commit(one, 5, epoch)
    shared.kill(2)
    shared.members.fence(2)
    shared.fence(1)
    assert beat(one, epoch).error_code == NOT_AVAILABLE
    assert list(one.broker.groups.registry) == []
    shared.members.come_back(1)
    shared.advance(1000)
    assert (beat(one, epoch).member_epoch, committed(one)) == (epoch, 5)


def test_a_hand_over_that_fails_leaves_the_group_as_it_was(shared: SharedStore) -> None:
    one = shared.brokers[1]
    epoch = beat(one, 0).member_epoch
    commit(one, 5, epoch)
    one.commit.fail_next()
    outcomes: list[object] = []
    one.broker.hand_over_all().then(outcomes.append)
    shared.run()
    assert len(outcomes) == 1 and outcomes[0] is not None
    assert (coordinator(one), beat(one, epoch).member_epoch, committed(one)) == (1, epoch, 5)
