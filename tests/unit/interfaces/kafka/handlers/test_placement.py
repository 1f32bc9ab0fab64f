"""Responses about other nodes: leaders of partitions, and coordinators of groups."""

from __future__ import annotations

import pytest

from domain.cluster.nodes import Leader, Node
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from interfaces.kafka.requests.call import WITHOUT_LEASE_MS
from interfaces.kafka.wire.messages.add_partitions_to_txn import AddPartitionsToTxnTopic
from interfaces.kafka.wire.messages.metadata import MetadataRequestTopic
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.groups import coordinate_on
from tests.fakes.offset_requests import at, commit
from tests.fakes.requests import fetch, kinds, produce
from tests.fakes.results import error_codes
from tests.fakes.structs import request_for
from tests.fakes.two_brokers import TwoBrokers

OTHER = Node(2, "b", {"PLAINTEXT": ("192.0.2.2", 9094)})
COORDINATOR_LOAD_IN_PROGRESS = 14
LEADER_NOT_AVAILABLE, NOT_LEADER, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR = 5, 6, 15, 16
FENCED = 74


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    kafka.placement.add(OTHER)
    return kafka


def move(kafka: FakeKafka, node_id: int, epoch: int) -> None:
    kafka.placement.move(kafka.existing().partition_ids[0], Leader(node_id, epoch))


def fetch_by_id(kafka: FakeKafka, epoch: int, max_wait_ms: int = 0) -> Request:
    request = fetch(max_wait_ms)
    request.topics[0].topic_id = kafka.existing().topic_id
    request.topics[0].partitions[0].current_leader_epoch = epoch
    return request


def test_metadata_has_all_nodes_and_the_leader_of_each_partition(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.request(request_for("metadata", topics=None), 12)  # cached until a leader moves
    move(kafka, 2, 7)
    metadata = client.request(request_for("metadata", topics=None), 12)
    nodes = [(one.node_id, one.host, one.port, one.rack) for one in metadata.brokers]
    assert nodes == [(1, "192.0.2.1", 9092, None), (2, "192.0.2.2", 9094, "b")]
    [partition] = metadata.topics[0].partitions
    assert (partition.leader_id, partition.leader_epoch) == (2, 7)
    cluster = client.request(request_for("describe_cluster", endpoint_type=1), 1)
    assert [one.broker_id for one in cluster.brokers] == [1, 2]


def test_a_leader_that_is_not_alive_is_in_no_response(kafka: FakeKafka, client: FakeClient) -> None:
    move(kafka, 2, 7)
    client.request(request_for("metadata", topics=None), 12)  # cached until a node leaves
    kafka.placement.remove(OTHER)
    metadata = client.request(request_for("metadata", topics=None), 12)
    assert [one.node_id for one in metadata.brokers] == [1]
    [partition] = metadata.topics[0].partitions
    assert (partition.error_code, partition.leader_id) == (LEADER_NOT_AVAILABLE, -1)
    assert (partition.leader_epoch, partition.offline_replicas) == (7, [2])
    described = client.request(
        request_for("describe_topic_partitions", response_partition_limit=10), 0
    )
    [partition] = described.topics[0].partitions
    assert (partition.leader_id, partition.offline_replicas) == (-1, [2])


@pytest.mark.parametrize("version", [9, 10])
def test_a_producer_is_sent_to_the_leader(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    move(kafka, 2, 7)
    response = client.request(produce(), version)
    [[partition]] = [topic.partition_responses for topic in response.responses]
    assert partition.error_code == NOT_LEADER
    if version >= 10:
        leader = partition.current_leader
        assert (leader.leader_id, leader.leader_epoch) == (2, 7)
        assert [(one.node_id, one.host) for one in response.node_endpoints] == [(2, "192.0.2.2")]


def test_a_waiting_fetch_is_sent_to_the_new_leader(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(fetch_by_id(kafka, -1, max_wait_ms=500), 16)
    kafka.scheduler.run_pass()
    move(kafka, 2, 7)
    kafka.scheduler.run()
    [response] = client.responses()
    [[partition]] = [topic.partitions for topic in response.responses]
    assert (partition.error_code, partition.current_leader.leader_id) == (NOT_LEADER, 2)
    assert [one.node_id for one in response.node_endpoints] == [2]


def test_a_waiting_fetch_is_sent_away_from_all_partitions_that_move_at_once(
    kafka: FakeKafka, client: FakeClient
) -> None:
    """A fetch session would keep one that was read before it was left, and read it here again."""
    topic = kafka.topic("several", 2)
    partitions = [{"partition": index, "partition_max_bytes": 1000} for index in (0, 1)]
    asked = [{"topic": topic.name, "partitions": partitions}]
    client.send(request_for("fetch", max_wait_ms=500, min_bytes=1, topics=asked), 12)
    kafka.scheduler.run_pass()
    assert client.responses() == []
    kafka.placement.move_all(dict.fromkeys(topic.partition_ids, Leader(2, 7)))
    kafka.scheduler.run_pass()
    [response] = client.responses()
    [[first, second]] = [topic.partitions for topic in response.responses]
    assert (first.error_code, second.error_code) == (NOT_LEADER, NOT_LEADER)


def test_a_new_epoch_shows_consumers_where_the_last_one_ended(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.request(produce(), 9)
    move(kafka, 1, 3)
    response = client.request(fetch_by_id(kafka, 0), 16)
    [[partition]] = [topic.partitions for topic in response.responses]
    assert (partition.error_code, partition.current_leader.leader_epoch) == (FENCED, 3)
    client.request(produce(), 9)
    requested = {"partition": 0, "current_leader_epoch": 3, "leader_epoch": 0}
    topic = {"topic": "t", "partitions": [requested]}
    ends = client.request(request_for("offset_for_leader_epoch", topics=[topic]), 3)
    [[end]] = [topic.partitions for topic in ends.topics]
    assert (end.error_code, end.leader_epoch, end.end_offset) == (0, 0, 1)


def test_members_are_sent_to_the_coordinator(kafka: FakeKafka, client: FakeClient) -> None:
    coordinate_on(kafka, 2)
    [found] = client.request(
        request_for("find_coordinator", coordinator_keys=["g"]), 4
    ).coordinators
    assert (found.node_id, found.host, found.port) == (2, "192.0.2.2", 9094)
    heartbeat = client.request(request_for("heartbeat", group_id="g", member_id="m"), 4)
    assert heartbeat.error_code == NOT_COORDINATOR


def test_without_a_lease_a_broker_names_no_leader_or_coordinator_that_it_is_itself(
    kafka: FakeKafka,
) -> None:
    """Another broker may have taken its place, and it does not know."""
    led, other = kafka.existing(), kafka.topic("other")
    kafka.placement.move(other.partition_ids[0], Leader(2, 7))
    coordinate_on(kafka, 1)
    asked = request_for("find_coordinator", coordinator_keys=["g"])
    beat = request_for("heartbeat", group_id="g", member_id="m")

    def seen() -> tuple[dict[str, tuple[int, int]], int, int, int]:
        topics = kafka.client().request(request_for("metadata", topics=None), 12).topics
        leaders = {
            one.name: (one.partitions[0].error_code, one.partitions[0].leader_id)
            for one in topics
            if one.name in (led.name, other.name)
        }
        [found] = kafka.client().request(asked, 4).coordinators
        of_one_key = kafka.client().request(request_for("find_coordinator", key="g"), 3)
        heartbeat = kafka.client().request(beat, 4)
        return leaders, found.error_code, of_one_key.error_code, heartbeat.error_code

    unknown_member, gone = 25, COORDINATOR_NOT_AVAILABLE
    before = seen()
    assert before == ({"t": (0, 1), "other": (0, 2)}, 0, 0, unknown_member)
    kafka.placement.has_lease = False
    leaderless = {"t": (LEADER_NOT_AVAILABLE, -1), "other": (0, 2)}
    assert seen() == (leaderless, gone, gone, NOT_COORDINATOR)
    kafka.placement.has_lease = True
    assert seen() == before


@pytest.mark.parametrize("topics", [("t",), None])
def test_without_a_lease_a_client_that_gets_an_error_waits_for_its_next_response(
    kafka: FakeKafka, client: FakeClient, topics: tuple[str, ...] | None
) -> None:
    """Whether its request is for one topic, or for all, for which responses are cached."""
    names = topics and [MetadataRequestTopic(name=one) for one in topics]
    asked = request_for("metadata", topics=names)
    assert kinds([client.request(asked, 12)]) == ["Metadata"]
    kafka.placement.has_lease = False
    for _ in range(2):
        assert kinds([client.request(asked, 12)]) == ["Metadata"]
        client.send(asked, 12)
        kafka.scheduler.advance(WITHOUT_LEASE_MS - 1)
        assert client.responses() == []
        kafka.scheduler.advance(1)
        assert kinds(client.responses()) == ["Metadata"]
        kafka.scheduler.advance(WITHOUT_LEASE_MS)
    kafka.placement.has_lease = True
    for _ in range(2):
        assert kinds([client.request(asked, 12)]) == ["Metadata"]


def test_without_a_lease_a_broker_lists_nothing_that_it_coordinates(
    kafka: FakeKafka, client: FakeClient
) -> None:
    coordinate_on(kafka, 1)
    for has_lease, error in ((True, 0), (False, COORDINATOR_LOAD_IN_PROGRESS)):
        kafka.placement.has_lease = has_lease
        assert client.request(request_for("list_groups"), 5).error_code == error
        assert client.request(request_for("list_transactions"), 2).error_code == error


def test_without_a_lease_a_broker_is_fenced_and_not_the_controller(kafka: FakeKafka) -> None:
    def seen(*, with_fenced: bool) -> tuple[int, int, list[tuple[int, bool]]]:
        asked = request_for("describe_cluster", endpoint_type=1, include_fenced_brokers=with_fenced)
        cluster = kafka.client().request(asked, 2)
        metadata = kafka.client().request(request_for("metadata", topics=None), 12)
        brokers = [(one.broker_id, one.is_fenced) for one in cluster.brokers]
        return cluster.controller_id, metadata.controller_id, brokers

    assert seen(with_fenced=True) == (1, 1, [(1, False), (2, False)])
    kafka.placement.has_lease = False
    assert seen(with_fenced=True) == (2, 2, [(1, True), (2, False)])
    assert seen(with_fenced=False) == (2, 2, [(1, False), (2, False)])


def test_without_a_lease_batches_are_refused_once_each_is_looked_at(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.broker.messages.produce.ask_first()
    for has_lease, error in ((False, NOT_LEADER), (True, 0), (False, 0)):
        kafka.placement.has_lease = has_lease
        response = client.request(produce(), 9)
        [[partition]] = [topic.partition_responses for topic in response.responses]
        assert partition.error_code == error


# two brokers

INVALID_TXN_STATE = 48


def transactional(client: FakeClient) -> dict[str, int]:
    """The id and epoch of the producer of `tx`, as its requests have them."""
    request = request_for("init_producer_id", transactional_id="tx", transaction_timeout_ms=1000)
    given = client.request(request, 4)
    assert given.error_code == 0
    return {"producer_id": given.producer_id, "producer_epoch": given.producer_epoch}


def test_requests_of_transactions_are_sent_to_their_coordinator() -> None:
    two = TwoBrokers()
    client, producer = two.first.client(), {"producer_id": 0, "producer_epoch": 0}
    transactional(client)
    two.move(2, [TRANSACTION_TOPIC])
    partitions = AddPartitionsToTxnTopic(name="t", partitions=[0, 1])
    fields = {"transactional_id": "tx", **producer}
    several = {"transactions": [{**fields, "topics": [partitions]}]}
    explicit = {f"v3_and_below_{name}": value for name, value in fields.items()}
    requests = [
        (request_for("init_producer_id", transactional_id="tx", transaction_timeout_ms=1000), 4),
        (request_for("add_offsets_to_txn", **fields, group_id="g"), 4),
        (request_for("end_txn", **fields, committed=True), 4),
        (request_for("describe_transactions", transactional_ids=["tx"]), 0),
        (request_for("add_partitions_to_txn", **several), 4),
        (request_for("add_partitions_to_txn", **explicit, v3_and_below_topics=[partitions]), 3),
    ]
    for request, version in requests:
        assert error_codes(client.request(request, version)) - {0} == {NOT_COORDINATOR}, request
    listed = request_for("list_transactions", duration_filter=-1)
    assert client.request(listed, 1).transaction_states == []
    [one] = two.second.client().request(listed, 1).transaction_states
    assert one.transactional_id == "tx"


def test_a_transaction_has_partitions_and_groups_of_other_brokers() -> None:
    two = TwoBrokers()
    client = two.first.client()
    producer = transactional(client)
    two.move(2, ["t", OFFSETS_TOPIC])
    fields = {"transactional_id": "tx", **producer}
    explicit = {f"v3_and_below_{name}": value for name, value in fields.items()}
    partitions = AddPartitionsToTxnTopic(name="t", partitions=[0])
    request = request_for("add_partitions_to_txn", **explicit, v3_and_below_topics=[partitions])
    offsets = request_for("add_offsets_to_txn", **fields, group_id="g")
    assert error_codes(client.request(request, 3)) == {0}
    assert error_codes(client.request(offsets, 3)) == {0}
    elsewhere = two.second.client()
    for index, code in ((0, 0), (1, INVALID_TXN_STATE)):
        batch = record_batch(
            ["x"],
            transactional=True,
            producer_id=producer["producer_id"],
            epoch=producer["producer_epoch"],
            sequence=0,
        )
        data = PartitionProduceData(index=index, records=memoryview(batch))
        topic = TopicProduceData(name="t", partition_data=[data])
        produced = elsewhere.request(
            ProduceRequest(acks=-1, transactional_id="tx", topic_data=[topic]), 9
        )
        assert error_codes(produced) == {code}


def test_groups_are_described_where_they_are_coordinated() -> None:
    two = TwoBrokers()
    commit(two.first.client(), "g", ("t", [at(0)]))
    two.move(2, [OFFSETS_TOPIC])
    classic, consumer = (
        request_for("describe_groups", groups=["g"]),
        request_for("consumer_group_describe", group_ids=["g"]),
    )
    client = two.first.client()
    assert client.request(classic, 5).groups[0].error_code == NOT_COORDINATOR
    assert client.request(consumer, 1).groups[0].error_code == NOT_COORDINATOR
    assert client.request(request_for("list_groups"), 4).groups == []
    assert two.second.client().request(classic, 5).groups[0].group_state == "Empty"


def test_beside_others_a_broker_has_the_address_that_these_say(
    kafka: FakeKafka, client: FakeClient
) -> None:
    """A client that asks several of them sees one address."""
    kafka.placement.remove(kafka.placement.nodes()[0])
    kafka.placement.add(Node(1, None, {"PLAINTEXT": ("broker-1", 9093)}))
    metadata = client.request(request_for("metadata", topics=None), 12)
    assert ("broker-1", 9093) in [(one.host, one.port) for one in metadata.brokers]
    assert ("192.0.2.1", 9092) not in [(one.host, one.port) for one in metadata.brokers]
