"""Leader epochs of clients, where three brokers share a store. Broker 2 leads, 3 is a replica."""

from __future__ import annotations

import pytest

from domain.configs.settings.identity import RACK_AWARE
from interfaces.kafka.wire.schema import Request
from tests.fakes.results import error_codes
from tests.fakes.shared_store import SharedStore
from tests.fakes.structs import request_for

NOT_LEADER, FENCED, UNKNOWN = 6, 74, 75
LATEST = -1
LEADER, REPLICA, NO_REPLICA = 2, 3, 1
EPOCH = 2


@pytest.fixture
def shared() -> SharedStore:
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(node_id, replica_selector_class=RACK_AWARE)
    shared.brokers[1].changes.check()
    shared.topic("t")
    registrations = shared.brokers[1].core.registrations
    assert registrations is not None
    [(partition_id, one)] = registrations.items()
    led = one._replace(replicas=(LEADER, REPLICA), leader=LEADER, leader_epoch=EPOCH)
    registrations.save([(partition_id, led)])
    shared.run()
    return shared


def requests(epoch: int) -> list[tuple[Request, int]]:
    """With the leader epoch that the client knows."""
    common = {"current_leader_epoch": epoch}
    searched = {"partition_index": 0, "timestamp": LATEST, **common}
    asked = {"partition": 0, "leader_epoch": 0, **common}
    fetched = {"partition": 0, "partition_max_bytes": 1 << 20, **common}
    return [
        (request_for("list_offsets", topics=[{"name": "t", "partitions": [searched]}]), 9),
        (
            request_for("offset_for_leader_epoch", topics=[{"topic": "t", "partitions": [asked]}]),
            4,
        ),
        (request_for("fetch", topics=[{"topic": "t", "partitions": [fetched]}]), 12),
        (request_for("fetch", topics=[{"topic": "t", "partitions": [fetched]}], rack_id="a"), 12),
    ]


@pytest.mark.parametrize(
    "node_id, epoch, code",
    [
        (LEADER, EPOCH - 1, FENCED),
        (LEADER, EPOCH, 0),
        (LEADER, EPOCH + 1, UNKNOWN),
        (LEADER, -1, 0),
        (REPLICA, EPOCH - 1, FENCED),
        (REPLICA, EPOCH, NOT_LEADER),
        (REPLICA, EPOCH + 1, UNKNOWN),
        (REPLICA, -1, NOT_LEADER),
        (NO_REPLICA, EPOCH - 1, NOT_LEADER),
        (NO_REPLICA, EPOCH, NOT_LEADER),
        (NO_REPLICA, EPOCH + 1, NOT_LEADER),
    ],
)
def test_a_replica_compares_leader_epochs_before_it_names_the_leader(
    shared: SharedStore, node_id: int, epoch: int, code: int
) -> None:
    for request, version in requests(epoch):
        response = shared.brokers[node_id].client().request(request, version)
        assert error_codes(response) - {0} == {code} - {0}, request


def test_a_broker_that_hands_over_knows_no_leader_epoch(shared: SharedStore) -> None:
    """It leads no more, and the next epoch is not durable yet."""
    leader = shared.brokers[LEADER]
    leader.commit.hold()
    leader.broker.hand_over_all()
    leader.scheduler.advance(20)
    for request, version in requests(EPOCH):
        assert error_codes(leader.client().request(request, version)) - {0} == {NOT_LEADER}
