"""Brokers that stop, die, or come back too late: clients of the others go on."""

from __future__ import annotations

import signal
import struct
from collections.abc import Callable, Iterator

import pytest

from tests.e2e.broker_process import wait_until
from tests.e2e.cluster.brokers import Brokers
from tests.e2e.cluster.conftest import LONG_LEASE, NODE_IDS, NewTopic
from tests.e2e.cluster.views import committed_in, coordinator_of
from tests.e2e.conftest import unused_topic_name
from tests.e2e.groups.members import ClientProcess, Member, wait_for_all, wait_for_shares
from tests.e2e.groups.numbers import Numbers
from tests.e2e.librdkafka import read_values
from tests.e2e.load import Acknowledged, IdempotentLoad
from tests.e2e.raw_client import (
    NOT_LEADER_OR_FOLLOWER,
    PRODUCE,
    batch,
    produce_body,
    read_produced,
)

#: Those that others fence soon.
SHORT_LEASES = tuple(one for one in NODE_IDS if one != LONG_LEASE)


def led_by(cluster: Brokers, topic: str, node_id: int) -> int:
    return cluster.seen_by(1 if node_id != 1 else 2, topic).leaders(topic).index(node_id)


def test_an_idempotent_producer_goes_on_when_a_leader_is_killed(
    cluster: Brokers, new_topic: NewTopic
) -> None:
    topic, acknowledged = new_topic(), Acknowledged()
    partition = led_by(cluster, topic, 2)
    with IdempotentLoad(cluster, topic, partition, acknowledged) as load:
        acknowledged.wait_for_more(50)
        cluster[2].kill()
        acknowledged.wait_for_more(200)
        load.stop()
    assert 2 not in cluster.seen_by(1, topic).leaders(topic)
    load.check(read_values(cluster[1].bootstrap, topic, load.produced, partition))


def test_a_broker_that_stops_hands_over_at_once(cluster: Brokers, new_topic: NewTopic) -> None:
    topic, acknowledged = new_topic(), Acknowledged()
    partition = led_by(cluster, topic, LONG_LEASE)
    with IdempotentLoad(cluster, topic, partition, acknowledged) as load:
        acknowledged.wait_for_more(50)
        assert cluster[LONG_LEASE].terminate() == 0
        acknowledged.wait_for_more(200)
        load.stop()
    cluster.wait_for_nodes(*SHORT_LEASES)
    assert set(cluster.seen_by(1, topic).leaders(topic)) == set(SHORT_LEASES)
    load.check(read_values(cluster[1].bootstrap, topic, load.produced, partition))


def test_a_zombie_acknowledges_nothing_and_joins_again(
    cluster: Brokers, new_topic: NewTopic
) -> None:
    topic = new_topic()
    partition = led_by(cluster, topic, 2)
    zombie = cluster[2]
    assert zombie.process is not None
    fenced_before = zombie.log(1 << 20).count("broker_fenced")
    with zombie.connect() as client:
        assert client.produce(topic, batch([b"before"]), partition).error == 0
        zombie.process.send_signal(signal.SIGSTOP)
        try:
            client.send(PRODUCE, 7, produce_body(topic, partition, batch([b"zombie"])))
            cluster.wait_for_nodes(*(one for one in NODE_IDS if one != 2))
            wait_until(lambda: produced_elsewhere(cluster, topic, partition, b"after"))
        finally:
            zombie.process.send_signal(signal.SIGCONT)
        try:
            error = read_produced(client.receive()[1]).error
        except (OSError, struct.error):
            error = -1
        assert error != 0
    wait_until(lambda: zombie.log(1 << 20).count("broker_fenced") > fenced_before)
    cluster.wait_for_nodes()
    assert read_values(cluster.bootstrap, topic, 2, partition) == [b"before", b"after"]


def produced_elsewhere(cluster: Brokers, topic: str, partition: int, value: bytes) -> bool:
    """Not until its leader is another than broker 2 and knows it."""
    leader = cluster.seen_by(1, topic).leaders(topic)[partition]
    if leader not in (1, 3):
        return False
    with cluster[leader].connect() as client:
        error = client.produce(topic, batch([value]), partition).error
    assert error in (0, NOT_LEADER_OR_FOLLOWER)
    return not error


# ---- groups


def group_of(cluster: Brokers, node_ids: tuple[int, ...]) -> tuple[str, int]:
    """A new group that one of these coordinates."""
    while True:
        group = unused_topic_name()
        with cluster[1].connect() as client:
            error, node_id = coordinator_of(client, group)
        if not error and node_id in node_ids:
            return group, node_id


@pytest.fixture
def join(cluster: Brokers, client_process: Callable[..., ClientProcess]) -> Iterator[Callable]:
    members: list[Member] = []

    def join(topic: str, group: str, client: str = "confluent", **settings: str) -> Member:
        facts = {"bootstrap": cluster.bootstrap, "group": group, "topics": topic}
        members.append(client_process(client).join(**facts, **settings))
        return members[-1]

    yield join
    for member in members:
        member.leave()


@pytest.mark.parametrize(
    "protocol, end",
    [
        ("classic", "stopped"),
        ("consumer", "killed"),
        pytest.param("classic", "killed", marks=pytest.mark.long),
        pytest.param("consumer", "stopped", marks=pytest.mark.long),
    ],
)
def test_members_go_on_without_a_rebalance_when_their_coordinator_is(
    protocol: str, end: str, cluster: Brokers, new_topic: NewTopic, join: Callable[..., Member]
) -> None:
    topic = new_topic()
    group, node_id = group_of(cluster, SHORT_LEASES if end == "killed" else NODE_IDS)
    numbers = Numbers(cluster.bootstrap, topic, partitions=6)
    members = [join(topic, group, protocol=protocol, commit="manual") for _ in range(2)]
    wait_for_shares(members, topic, 6)
    wait_for_all(numbers.produce(60), members)
    for member in members:
        member.do("commit", *[(name, index, 7) for name, index in sorted(member.assigned)])
    known = [list(member.assignments) for member in members]
    with numbers.flowing():
        if end == "killed":
            cluster[node_id].kill()
        else:
            assert cluster[node_id].terminate() == 0
        rest = tuple(one for one in NODE_IDS if one != node_id)
        cluster.wait_for_nodes(*rest)
        wait_until(lambda: coordinates(cluster, rest, group))
    for member in members:
        member.do("commit", *[(name, index, 8) for name, index in sorted(member.assigned)])
    wait_for_all(numbers.all(), members)
    assert [member.assignments for member in members] == known
    assert committed(cluster, rest, group) == {(topic, index): 8 for index in range(6)}


def committed(
    cluster: Brokers, node_ids: tuple[int, ...], group: str
) -> dict[tuple[str, int], int] | None:
    """As the coordinator responds; None: it is loading."""
    for node_id in node_ids:
        with cluster[node_id].connect() as client:
            error, offsets = committed_in(client, group)
        if not error:
            return offsets
    return None


def coordinates(cluster: Brokers, node_ids: tuple[int, ...], group: str) -> bool:
    with cluster[node_ids[0]].connect() as client:
        error, node_id = coordinator_of(client, group)
    return not error and node_id in node_ids


def test_committed_offsets_survive_all_brokers(
    cluster: Brokers, new_topic: NewTopic, join: Callable[..., Member]
) -> None:
    topic = new_topic()
    group, _ = group_of(cluster, NODE_IDS)
    numbers = Numbers(cluster.bootstrap, topic, partitions=6)
    member = join(topic, group, commit="manual")
    wait_for_all(numbers.produce(60), [member])
    member.do("commit", *[(topic, index, 4 + index) for index in range(6)])
    for broker in cluster.all.values():
        broker.kill()
    for broker in cluster.all.values():
        broker.process = broker.spawn()
    for broker in cluster.all.values():
        broker.wait_until_ready()
    cluster.wait_for_nodes()
    expected = {(topic, index): 4 + index for index in range(6)}
    wait_until(lambda: committed(cluster, NODE_IDS, group) == expected)
