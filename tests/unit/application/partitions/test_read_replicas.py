"""Fetches from a replica in the rack of the client, as two brokers respond to them.

Node 1 is in rack a, node 2 in rack b; node 1 leads. Offsets 0 to 3 are sealed, of 5.
"""

from __future__ import annotations

from typing import Any

import pytest

from application.metrics.families import jmx
from application.metrics.topics import TopicReadings
from application.partitions import read_replicas
from application.partitions.read_replicas import RETURNED_MS
from domain.configs.settings.identity import RACK_AWARE
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient
from tests.fakes.membership import FakeMembership
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.fakes.structs import request_for

NONE, NOT_LEADER, FENCED_EPOCH, UNKNOWN_EPOCH, OUT_OF_RANGE = 0, 6, 74, 75, 1
SEALED, END = 4, 5
LATEST = 18


class Cluster:
    def __init__(self, replicas: str = "2", selector: str = RACK_AWARE) -> None:
        self.shared = SharedStore()
        for node_id, rack in ((1, "a"), (2, "b")):
            self.shared.start(
                node_id,
                rack,
                broker_rack=rack,
                default_replication_factor=replicas,
                replica_selector_class=selector,
            )
        self.leader, self.follower = self.shared.brokers[1], self.shared.brokers[2]
        self.topic = self.shared.topic()
        for number in range(END):
            self.leader.appended(record_batch([str(number)]))
        self.shared.run()
        for broker in (self.leader, self.follower):
            broker.sealed_log.end_offset = SEALED

    @property
    def epoch(self) -> int:
        return self.leader.leader(self.topic.partition_ids[0])[1]

    def request(
        self, offset: int, rack: str, epoch: int, last_fetched_epoch: int = -1, **facts: Any
    ) -> Any:
        partition = {
            "partition": 0,
            "fetch_offset": offset,
            "current_leader_epoch": epoch,
            "last_fetched_epoch": last_fetched_epoch,
            "partition_max_bytes": 1 << 20,
        }
        topic = {"topic": "t", "topic_id": self.topic.topic_id, "partitions": [partition]}
        facts = {"max_wait_ms": 0, "min_bytes": 1, **facts}
        return request_for("fetch", topics=[topic], rack_id=rack, **facts)

    def fetch(
        self,
        broker: SharedBroker,
        offset: int = 0,
        rack: str = "b",
        epoch: int = -1,
        version: int = LATEST,
        client: FakeClient | None = None,
        **facts: Any,
    ) -> Any:
        """The response; and the only partition in it."""
        client = client or broker.client()
        client.send(self.request(offset, rack, epoch, **facts), version)
        self.shared.run()
        [response] = client.responses()
        return response

    def partition(self, broker: SharedBroker, *args: Any, **facts: Any) -> Any:
        response = self.fetch(broker, *args, **facts)
        [topic] = response.responses
        [partition] = topic.partitions
        return partition


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(read_replicas, "WORTH_BYTES", 1)
    return Cluster()


def outcome(partition: Any) -> tuple[int, int, bool]:
    return partition.error_code, partition.preferred_read_replica, bool(partition.records)


SERVED, SENT_AWAY, REFUSED = (NONE, -1, True), (NONE, 2, False), (NOT_LEADER, -1, False)


# ---- the leader


@pytest.mark.parametrize("version", [11, 12, LATEST])
def test_the_leader_names_the_replica_in_the_rack_of_the_client(
    cluster: Cluster, version: int
) -> None:
    found = cluster.partition(cluster.leader, version=version)
    assert outcome(found) == SENT_AWAY
    assert (found.high_watermark, found.last_stable_offset, found.log_start_offset) == (5, 5, 0)


@pytest.mark.parametrize(
    ("offset", "rack", "version"),
    [
        pytest.param(0, "a", LATEST, id="rack-of-the-leader"),
        pytest.param(0, "", LATEST, id="no-rack"),
        pytest.param(0, "c", LATEST, id="rack-without-a-broker"),
        pytest.param(0, "b", 10, id="version-without-racks"),
        pytest.param(SEALED, "b", LATEST, id="not-sealed"),
    ],
)
def test_the_leader_serves_other_fetches(
    cluster: Cluster, offset: int, rack: str, version: int
) -> None:
    assert outcome(cluster.partition(cluster.leader, offset, rack, version=version)) == SERVED


def test_the_leader_serves_where_little_lies_ahead(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = cluster.leader.partition()
    monkeypatch.setattr(read_replicas, "WORTH_BYTES", partition.durable.size_bytes * 2 // 5)
    outcomes = [outcome(cluster.partition(cluster.leader, offset)) for offset in (0, 1, 2, 3)]
    assert outcomes == [SENT_AWAY, SENT_AWAY, SERVED, SERVED]


def test_no_client_is_sent_away_without_the_selector() -> None:
    cluster = Cluster(selector="")
    assert outcome(cluster.partition(cluster.leader)) == SERVED
    assert outcome(cluster.partition(cluster.follower)) == REFUSED


def test_no_client_is_sent_to_a_broker_that_is_no_replica() -> None:
    cluster = Cluster(replicas="1")
    assert outcome(cluster.partition(cluster.leader)) == SERVED
    assert outcome(cluster.partition(cluster.follower)) == REFUSED


def test_no_client_is_sent_to_a_broker_that_is_gone(cluster: Cluster) -> None:
    cluster.shared.kill(2)
    cluster.shared.fence(2)
    assert outcome(cluster.partition(cluster.leader)) == SERVED


@pytest.mark.parametrize(
    ("offset", "more", "code"),
    [(END + 1, 0, OUT_OF_RANGE), (0, 1, UNKNOWN_EPOCH), (0, -1, FENCED_EPOCH)],
)
def test_the_leader_checks_a_fetch_before_it_names_a_replica(
    cluster: Cluster, offset: int, more: int, code: int
) -> None:
    cluster.shared.kill(1)
    cluster.shared.fence(1)
    cluster.leader, cluster.follower = cluster.follower, cluster.leader
    found = cluster.partition(cluster.leader, offset, "a", cluster.epoch + more)
    assert found.error_code == code


def test_only_the_leader_serves_a_fetch_with_a_last_fetched_epoch(cluster: Cluster) -> None:
    last = {"last_fetched_epoch": cluster.epoch}
    assert outcome(cluster.partition(cluster.leader, 1, **last)) == SERVED
    assert outcome(cluster.partition(cluster.follower, 1, **last)) == REFUSED
    diverging = cluster.partition(cluster.leader, END + 1, **last).diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (cluster.epoch, END)


def test_a_client_that_returns_with_the_same_offset_is_served_for_a_minute(
    cluster: Cluster,
) -> None:
    first, other = cluster.leader.client(), cluster.leader.client()
    assert outcome(cluster.partition(cluster.leader, client=first)) == SENT_AWAY
    assert outcome(cluster.partition(cluster.leader, client=first)) == SERVED
    assert outcome(cluster.partition(cluster.leader, 1, client=first)) == SERVED
    assert outcome(cluster.partition(cluster.leader, client=other)) == SENT_AWAY
    cluster.leader.scheduler.advance(RETURNED_MS)
    assert outcome(cluster.partition(cluster.leader, 1, client=first)) == SENT_AWAY
    assert outcome(cluster.partition(cluster.leader, 2, client=first)) == SENT_AWAY
    cluster.leader.scheduler.advance(RETURNED_MS)
    assert outcome(cluster.partition(cluster.leader, 2, client=first)) == SENT_AWAY


def test_a_session_has_the_replica_in_its_next_response(cluster: Cluster) -> None:
    """A partition without records is left out of these."""
    client = cluster.leader.client()
    cluster.leader.sealed_log.end_offset = 0
    opened = cluster.fetch(cluster.leader, END, client=client, session_epoch=0)
    session = {"session_id": opened.session_id, "session_epoch": 1}
    cluster.leader.sealed_log.end_offset = SEALED
    found = cluster.partition(cluster.leader, 0, client=client, **session)
    assert outcome(found) == SENT_AWAY


def test_a_fetch_that_is_sent_away_does_not_wait(cluster: Cluster) -> None:
    client = cluster.leader.client()
    client.send(cluster.request(0, "b", -1, max_wait_ms=500, min_bytes=1 << 20), LATEST)
    cluster.leader.run()
    assert len(client.responses()) == 1


# ---- the follower


@pytest.mark.parametrize("isolation_level", [0, 1])
@pytest.mark.parametrize("version", [11, LATEST])
def test_the_follower_serves_sealed_records(
    cluster: Cluster, version: int, isolation_level: int
) -> None:
    found = cluster.partition(
        cluster.follower, 1, version=version, isolation_level=isolation_level, max_wait_ms=500
    )
    stored = cluster.leader.log.read(cluster.topic.partition_ids[0], 0, END, 1 << 20, True)
    assert outcome(found) == SERVED
    assert bytes(found.records) == stored[len(stored) // 5 :][: len(stored) * 3 // 5]
    assert (found.high_watermark, found.last_stable_offset, found.log_start_offset) == (5, 4, 0)
    assert found.aborted_transactions == ([] if isolation_level else None)


@pytest.mark.parametrize("offset", [SEALED, END, END + 1])
def test_the_follower_sends_a_client_back_for_other_records(cluster: Cluster, offset: int) -> None:
    found = cluster.fetch(cluster.follower, offset)
    [partition] = found.responses[0].partitions
    assert outcome(partition) == REFUSED
    assert partition.high_watermark == -1
    assert (partition.current_leader.leader_id, partition.current_leader.leader_epoch) == (
        cluster.leader.leader(cluster.topic.partition_ids[0])
    )
    assert [node.node_id for node in found.node_endpoints] == [1]


def test_the_follower_does_not_serve_deleted_records(cluster: Cluster) -> None:
    """Not OFFSET_OUT_OF_RANGE: the leader says so, and clients believe only the leader."""
    cluster.follower.sealed_log.log_start_offset = 2
    assert outcome(cluster.partition(cluster.follower, 1)) == REFUSED
    assert cluster.partition(cluster.follower, 2).log_start_offset == 2


@pytest.mark.parametrize(("more", "code"), [(1, UNKNOWN_EPOCH), (-1, FENCED_EPOCH), (0, NONE)])
def test_the_follower_checks_the_leader_epoch(cluster: Cluster, more: int, code: int) -> None:
    cluster.shared.kill(1)
    cluster.shared.fence(1)
    cluster.leader = cluster.shared.start(
        1, "a", broker_rack="a", replica_selector_class=RACK_AWARE
    )
    cluster.leader.sealed_log.end_offset = SEALED
    found = cluster.partition(cluster.leader, 0, "a", cluster.epoch + more)
    assert found.error_code == code


def test_the_follower_serves_nothing_without_a_lease(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be cut off from the database in which records are deleted."""
    monkeypatch.setattr(FakeMembership, "has_lease", False)
    assert outcome(cluster.partition(cluster.follower)) == REFUSED


def test_the_follower_serves_no_client_without_a_rack(cluster: Cluster) -> None:
    assert outcome(cluster.partition(cluster.follower, rack="")) == REFUSED
    assert cluster.follower.sealed_log.asked == []


def test_a_fetch_waits_for_the_objects_and_is_read_once(cluster: Cluster) -> None:
    client, sealed = cluster.follower.client(), cluster.follower.sealed_log
    sealed.waiting = []
    client.send(cluster.request(0, "b", -1, max_wait_ms=20), LATEST)
    cluster.shared.run()
    assert client.responses() == []  # a response without offsets would be wrong
    [reading] = sealed.waiting
    reading.resolve(sealed.found(cluster.topic.partition_ids[0], 0))
    cluster.shared.run()
    [response] = client.responses()
    assert response.responses[0].partitions[0].records
    assert sealed.asked == [0]


@pytest.mark.parametrize("max_bytes", [1 << 20, 1])
@pytest.mark.parametrize("followed_first", [True, False])
def test_a_fetch_has_partitions_that_the_broker_leads_and_others(
    cluster: Cluster, max_bytes: int, followed_first: bool
) -> None:
    """What does not fit has no records, and no offsets if others lead it: these are not read."""
    two = cluster.shared.topic("two", 2)
    by_leader = {cluster.leader.leader(one)[0]: at for at, one in enumerate(two.partition_ids)}
    for node_id, index in by_leader.items():
        cluster.shared.brokers[node_id].appended(record_batch(["x"]), "two", index)
    cluster.shared.run()
    cluster.follower.sealed_log.end_offset = 1
    order = [by_leader[1], by_leader[2]] if followed_first else [by_leader[2], by_leader[1]]
    places = [{"partition": one, "partition_max_bytes": 1 << 20} for one in order]
    request = request_for(
        "fetch",
        topics=[{"topic": "two", "partitions": places}],
        rack_id="b",
        min_bytes=1,
        max_bytes=max_bytes,
    )
    client = cluster.follower.client()
    client.send(request, 12)
    cluster.shared.run()
    [response] = client.responses()
    found = {one.partition_index: one for one in response.responses[0].partitions}
    assert [one.error_code for one in found.values()] == [NONE, NONE]
    served = [bool(found[one].records) for one in order]
    assert served == ([True, True] if max_bytes > 1 else [True, False])
    is_read = followed_first or max_bytes > 1
    assert found[by_leader[1]].high_watermark == (2 if is_read else -1)
    assert found[by_leader[2]].high_watermark == 1
    assert len(cluster.follower.sealed_log.asked) == is_read


def test_a_follower_that_becomes_the_leader_meanwhile_serves_as_such(cluster: Cluster) -> None:
    client, sealed = cluster.follower.client(), cluster.follower.sealed_log
    sealed.waiting = []
    client.send(cluster.request(0, "b", -1), LATEST)
    cluster.shared.run()
    cluster.shared.kill(1)
    cluster.shared.fence(1)
    sealed.waiting[0].resolve(None)
    cluster.shared.run()
    [response] = client.responses()
    [partition] = response.responses[0].partitions
    assert outcome(partition) == SERVED
    assert partition.high_watermark == END


def test_a_broker_that_stops_sends_clients_back(cluster: Cluster) -> None:
    cluster.follower.broker.messages.fetch.release()
    assert outcome(cluster.partition(cluster.follower)) == REFUSED


def test_what_a_follower_has_served_is_counted(cluster: Cluster) -> None:
    found = cluster.partition(cluster.follower)
    broker = cluster.follower.broker
    readings = TopicReadings(broker.catalog, cluster.follower.clock, broker.placement)
    sums = {family: dict(samples) for family, samples in readings.read()}
    assert sums[jmx.BYTES_OUT] == {("t",): len(found.records)}
    assert sums[jmx.FETCH_REQUESTS] == {("t",): 1}


def test_nothing_is_counted_of_a_topic_that_is_deleted(cluster: Cluster) -> None:
    """Also by a fetch that was waiting for its records."""
    client, sealed = cluster.follower.client(), cluster.follower.sealed_log
    catalog, [partition_id] = cluster.follower.broker.catalog, cluster.topic.partition_ids
    cluster.partition(cluster.follower)
    assert catalog.followed_traffic(partition_id) is not None
    sealed.waiting = []
    client.send(cluster.request(0, "b", -1), LATEST)
    cluster.shared.run()
    cluster.leader.broker.topics.delete_topics.delete([cluster.topic])
    cluster.shared.run()
    assert catalog.followed_traffic(partition_id) is None
    sealed.waiting[0].resolve(sealed.found(partition_id, 0))
    cluster.shared.run()
    assert len(client.responses()) == 1
    assert catalog.followed_traffic(partition_id) is None
