"""Transactions over partitions and groups that several brokers lead."""

from __future__ import annotations

import pytest

from application.ports.marker_repository import RequestedMarker
from application.transactions import requested_markers
from domain.transactions.transaction import ProducerIdAndEpoch
from tests.fakes.cluster_producer import ClusterProducer, ask
from tests.fakes.offset_requests import found
from tests.fakes.results import error_codes
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.fakes.structs import request_for
from tests.unit.application.transactions.three_brokers import (
    begun,
    check_ended,
    led_by,
    markers,
)

NOT_ENOUGH_REPLICAS, INVALID_EPOCH, INVALID_TXN_STATE = 19, 47, 48
CONCURRENT, ABORTABLE = 51, 120


@pytest.mark.parametrize("committed", [True, False])
def test_a_transaction_ends_in_the_partitions_of_all_brokers(
    shared: SharedStore, producer: ClusterProducer, committed: bool
) -> None:
    begun(producer)
    for index in range(3):
        assert producer.leader(index).partition(index=index).last_stable_offset == 0
    assert producer.end(committed) == 0
    check_ended(shared, producer, "CompleteCommit" if committed else "CompleteAbort")
    assert producer.add(1) == {0}
    assert producer.produce(1) == {0}


def test_one_commit_ends_a_transaction_that_has_no_partition_elsewhere(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    coordinator = producer.coordinator
    [index] = led_by(producer, coordinator.config.node_id)
    producer.add(index)
    producer.produce(index)
    commits = coordinator.commit.count
    assert producer.end() == 0
    assert coordinator.commit.count == commits + 1
    assert producer.state == "CompleteCommit"


def test_until_all_leaders_have_written_it_the_next_transaction_does_not_begin(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    begun(producer)
    [index] = led_by(producer, 2)
    leader = shared.brokers[2]
    leader.commit.hold()
    assert producer.end() == 0, "it is decided"
    assert producer.state == "PrepareCommit"
    assert producer.end() == CONCURRENT
    assert producer.add(index) - {0} == {CONCURRENT}
    assert producer.init() == CONCURRENT
    described = ask(
        producer.coordinator, request_for("describe_transactions", transactional_ids=["tx"]), 0
    )
    [state] = described.transaction_states
    assert (state.transaction_state, state.topics[0].partitions) == ("PrepareCommit", [0, 1, 2])
    leader.commit.let_go()
    shared.run()
    check_ended(shared, producer, "CompleteCommit")


def test_the_next_transaction_waits_a_moment_for_the_markers_of_others(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    begun(producer)
    [index] = led_by(producer, 2)
    leader, client = shared.brokers[2], producer.coordinator.client()
    leader.commit.hold()
    assert producer.end() == 0
    client.send(producer.add_request(index), 3)
    shared.advance(20)
    assert client.responses() == []
    leader.commit.let_go()
    shared.run()
    [response] = client.responses()
    assert error_codes(response) == {0}


def test_the_next_coordinator_completes_it(shared: SharedStore, producer: ClusterProducer) -> None:
    begun(producer)
    shared.brokers[2].commit.hold()
    assert producer.end() == 0
    before = producer.coordinator.config.node_id
    shared.kill(before)
    shared.fence(before)
    shared.brokers[2].commit.let_go()
    shared.advance(2000)
    assert producer.coordinator.config.node_id != before
    check_ended(shared, producer, "CompleteCommit")


@pytest.mark.parametrize("is_durable", [True, False])
def test_the_next_leader_of_a_partition_ends_it_there(
    shared: SharedStore, producer: ClusterProducer, is_durable: bool
) -> None:
    """Unless the last commit of the one before has the marker."""
    begun(producer)
    shared.brokers[2].commit.hold()
    assert producer.end() == 0
    shared.kill(2, persists=is_durable)
    shared.fence(2)
    shared.advance(2000)
    check_ended(shared, producer, "CompleteCommit")


def test_a_partition_may_come_to_the_coordinator_before_its_marker(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    begun(producer)
    for node_id in (2, 3):
        shared.brokers[node_id].commit.hold()
    assert producer.end(committed=False) == 0
    for node_id in (2, 3):
        shared.kill(node_id)
        shared.fence(node_id)
    shared.advance(2000)
    check_ended(shared, producer, "CompleteAbort")


def test_a_leader_hands_over_with_what_it_has_not_written(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    begun(producer)
    leader = shared.brokers[2]
    leader.commit.hold()
    assert producer.end() == 0
    leader.commit.let_fail()
    leader.broker.hand_over_all()
    shared.advance(3000)
    check_ended(shared, producer, "CompleteCommit")


def test_a_timeout_aborts_in_all_partitions(shared: SharedStore) -> None:
    producer = ClusterProducer(shared)
    producer.timeout_ms = 500
    producer.init()
    begun(producer)
    shared.advance(2000)
    check_ended(shared, producer, "CompleteAbort")
    assert producer.produce(led_by(producer, 2)[0]) == {INVALID_EPOCH}


def test_a_new_producer_aborts_in_all_partitions(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    begun(producer)
    newer = ClusterProducer(shared)
    assert newer.init() == 0
    check_ended(shared, producer, "Empty")
    assert producer.produce(led_by(producer, 2)[0]) == {INVALID_EPOCH}


def test_a_producer_waits_once_for_an_abort_that_is_not_kept(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    begun(producer)
    coordinator = producer.coordinator
    for _ in range(100):
        coordinator.commit.fail_next()
    client = coordinator.client()
    client.send(ClusterProducer(shared).init_request(), 4)
    shared.advance(300)
    [response] = client.responses()
    assert response.error_code == CONCURRENT


# ---- verification


@pytest.mark.parametrize(
    ("version", "code"), [(9, INVALID_TXN_STATE), (11, ABORTABLE), (12, ABORTABLE)]
)
def test_a_batch_is_refused_where_its_partition_was_not_added(
    producer: ClusterProducer, version: int, code: int
) -> None:
    mine, other = led_by(producer, 3, 2)
    producer.add(mine)
    assert producer.produce(other, version=version) == {code}
    assert producer.produce(mine, version=version) == {0}


def test_a_batch_of_a_transaction_that_ends_is_to_be_repeated(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    begun(producer)
    [other] = led_by(producer, 2)
    shared.brokers[3].commit.hold()
    producer.end()
    assert producer.produce(other) == {NOT_ENOUGH_REPLICAS}
    shared.brokers[3].commit.let_go()
    shared.run()
    assert producer.produce(other) == {INVALID_TXN_STATE}


def test_a_transaction_that_was_read_before_its_marker_does_not_count(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    """The batch would open a transaction that nothing ends."""
    [index] = led_by(producer, 2)
    leader = shared.brokers[2]
    producer.add(index)
    waiting = []
    fetch = leader.fetch_row
    leader.core.transactions._fetch_row = lambda *row: waiting.append(fetch(*row)) or waiting[-1]
    client = leader.client()
    client.send(producer.produce_request(index), 9)
    while not waiting:
        leader.scheduler.run_pass()
    late, waiting[0]._callback = waiting[0]._callback, None  # the answer is under way
    shared.run()
    assert producer.end() == 0
    assert markers(shared, index) == 1
    late(waiting[0]._value)
    shared.run()
    [response] = client.responses()
    [[partition]] = [topic.partition_responses for topic in response.responses]
    assert partition.error_code == INVALID_TXN_STATE
    assert leader.partition(index=index).last_stable_offset == 1


def test_a_request_with_several_partitions_waits_before_the_first_one(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    shared.kill(3)
    shared.fence(3)
    shared.advance(100)
    elsewhere = [one for one in range(3) if producer.leader(one) is not producer.coordinator]
    if len(elsewhere) < 2:
        elsewhere = [one for one in range(3) if producer.leader(one) is producer.coordinator]
    producer.add(*elsewhere)
    assert producer.produce(*elsewhere) == {0}
    assert producer.produce(*elsewhere) == {0}
    assert producer.end() == 0
    assert [markers(shared, index) for index in elsewhere] == [1] * len(elsewhere)


# ---- offsets


def coordinated_by(shared: SharedStore, node_id: int) -> str:
    is_here = shared.brokers[node_id].broker.groups.coordinators.is_here
    return next(name for name in map(str, range(100)) if is_here(name))


def committed_offset(broker: SharedBroker, group_id: str) -> int | None:
    group = {"group_id": group_id, "topics": None, "member_id": None, "member_epoch": -1}
    [response] = ask(broker, request_for("offset_fetch", groups=[group]), 9).groups
    offsets = found(response).get("t", {})
    return offsets[0][0] if 0 in offsets else None


@pytest.fixture
def group(shared: SharedStore) -> str:
    """That broker 2 coordinates."""
    shared.brokers[1].broker.topics.replicas.reassign(
        [(("__consumer_offsets", index), [2]) for index in range(3)]
    )
    shared.advance(500)
    return coordinated_by(shared, 2)


@pytest.mark.parametrize("committed", [True, False])
def test_offsets_of_a_group_elsewhere_end_with_it(
    shared: SharedStore, producer: ClusterProducer, group: str, committed: bool
) -> None:
    two = shared.brokers[2]
    assert producer.coordinator is not two
    assert producer.commit_offset(two, group, 7) == {0}
    assert two.broker.groups.offsets.pending.partitions(group)
    assert producer.end(committed) == 0
    assert committed_offset(two, group) == (7 if committed else None)
    assert list(two.broker.groups.offsets.pending.partitions(group)) == []
    assert producer.state == ("CompleteCommit" if committed else "CompleteAbort")


def test_offsets_are_refused_where_the_group_was_not_added(
    shared: SharedStore, producer: ClusterProducer, group: str
) -> None:
    request = request_for(
        "txn_offset_commit",
        transactional_id="tx",
        producer_id=producer.producer.producer_id,
        producer_epoch=producer.producer.epoch,
        group_id=group,
        topics=[
            {
                "name": "t",
                "partitions": [
                    {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
                ],
            }
        ],
    )
    [topic] = ask(shared.brokers[2], request, 3).topics
    assert topic.partitions[0].error_code == INVALID_TXN_STATE


def test_the_next_coordinator_of_the_group_ends_them(
    shared: SharedStore, producer: ClusterProducer, group: str
) -> None:
    two = shared.brokers[2]
    producer.commit_offset(two, group, 7)
    two.commit.hold()
    assert producer.end() == 0
    shared.kill(2)
    shared.fence(2)
    shared.advance(2000)
    [after] = [
        one for one in shared.brokers.values() if one.broker.groups.coordinators.is_here(group)
    ]
    assert committed_offset(after, group) == 7
    assert producer.state == "CompleteCommit"


def test_clients_do_not_use_transaction_version_2(shared: SharedStore) -> None:
    response = ask(
        shared.brokers[1],
        request_for("api_versions", client_software_name="n", client_software_version="1"),
        4,
    )
    levels = {one.name: one.max_version_level for one in response.finalized_features}
    supported = {one.name: one.max_version for one in response.supported_features}
    assert levels["transaction.version"] == supported["transaction.version"] == 1
    assert response.finalized_features_epoch == 1


def test_a_marker_that_cannot_be_written_stops_no_other(
    shared: SharedStore, producer: ClusterProducer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requested_markers, "MARKERS_PER_COMMIT", 1)
    begun(producer)
    led_by(producer, 2)
    leader = shared.brokers[2]
    first = RequestedMarker(
        bytes(16),
        leader.existing().partition_ids[0],
        "a topic that is gone",
        0,
        "of a coordinator that is dead",
        ProducerIdAndEpoch(99, 0),
        True,
    )
    leader.broker.transactions.requested_markers._requests.add(first)
    shared.run()
    assert producer.end() == 0
    shared.advance(5000)
    assert producer.state == "CompleteCommit"
