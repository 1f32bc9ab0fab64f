"""Fetches of several partitions from a broker that leads some of them, or none."""

from __future__ import annotations

from typing import Any

import pytest

from application.partitions import read_replicas
from application.partitions.read_replicas import PATIENCE_MS
from application.ports.pending import Pending
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient
from tests.fakes.sealed_log import AskedRead
from tests.fakes.structs import request_for
from tests.unit.application.partitions.test_read_replicas import NOT_LEADER, OUT_OF_RANGE, Cluster

PARTITIONS = 8
ROOM = 1 << 20


class Several:
    """A topic of which each broker leads some partitions; each has two records, one of them
    in objects. All reads of the follower wait.
    """

    def __init__(self) -> None:
        self.cluster = Cluster()
        self.shared = self.cluster.shared
        self.follower = self.cluster.follower
        self.ids = self.shared.topic("many", PARTITIONS).partition_ids
        leaders = [self.cluster.leader.leader(one)[0] for one in self.ids]
        self.followed = [at for at, node_id in enumerate(leaders) if node_id == 1]
        self.led = [at for at, node_id in enumerate(leaders) if node_id == 2]
        for index, node_id in enumerate(leaders):
            for value in ("a", "b"):
                self.shared.brokers[node_id].appended(record_batch([value]), "many", index)
        self.shared.run()
        self.sealed = self.follower.sealed_log
        self.sealed.end_offset = 1
        self.sealed.waiting = []
        self.client = self.follower.client()

    def send(self, *indexes: int, offset: int = 0, max_bytes: int = ROOM, **facts: Any) -> None:
        self.send_to(self.client, [(at, offset) for at in indexes], max_bytes, **facts)

    def send_to(
        self,
        client: FakeClient,
        places: list[tuple[int, int]],
        max_bytes: int = ROOM,
        **facts: Any,
    ) -> None:
        """Indexes and offsets."""
        partitions = [
            {"partition": at, "fetch_offset": offset, "partition_max_bytes": ROOM}
            for at, offset in places
        ]
        topics = [{"topic": "many", "partitions": partitions}]
        facts = {"min_bytes": 1, "max_wait_ms": 500, **facts}
        request = request_for("fetch", topics=topics, rack_id="b", max_bytes=max_bytes, **facts)
        client.send(request, 12)
        self.shared.run()

    @property
    def reads(self) -> list[AskedRead]:
        """That are asked for, the oldest first."""
        assert self.sealed.waiting is not None
        return self.sealed.waiting

    def read(self, index: int) -> None:
        """The oldest one is done."""
        self.reads.pop(0).resolve(self.sealed.found(self.ids[index], 0))
        self.shared.run()

    def responses(self) -> list[dict[int, tuple[int, int, bool]]]:
        """By partition: error code, high watermark, and whether there are records."""
        return [
            {
                one.partition_index: (one.error_code, one.high_watermark, bool(one.records))
                for one in response.responses[0].partitions
            }
            for response in self.client.responses()
        ]


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> Several:
    monkeypatch.setattr(read_replicas, "WORTH_BYTES", 1)
    return Several()


NOTHING, FOLLOWED, LED = (0, -1, False), (0, 2, True), (0, 2, True)


def test_a_follower_reads_what_the_response_has_room_for(several: Several) -> None:
    """Each partition is read when its turn comes, as clients rotate them."""
    order = several.followed
    for _ in several.followed:
        several.sealed.asked.clear()
        several.send(*order, max_bytes=1)
        assert len(several.sealed.asked) == 1
        several.read(order[0])
        [found] = several.responses()
        assert found == {order[0]: FOLLOWED} | dict.fromkeys(order[1:], NOTHING)
        order = [*order[1:], order[0]]


def test_nothing_is_read_for_a_client_that_has_gone(several: Several) -> None:
    several.send(*several.followed)
    several.client.session.connection_lost(None)
    assert [one.is_abandoned for one in several.reads] == [True]


def test_records_of_another_partition_do_not_wait_for_a_slow_bucket(several: Several) -> None:
    """What is read meanwhile is left out; the next fetch of it finds it in memory."""
    followed, led = several.followed[0], several.led[0]
    several.send(followed, led)
    several.shared.advance(400)
    assert several.responses() == []
    several.shared.advance(50)
    assert several.responses() == [{followed: NOTHING, led: LED}]
    assert [one.is_abandoned for one in several.reads] == [True]


def test_an_error_of_another_partition_does_not_wait_for_a_slow_bucket(several: Several) -> None:
    followed, led = several.followed[0], several.led[0]
    several.send(followed, led, offset=1 << 30)  # out of range, as this broker knows of its own
    several.shared.advance(450)
    [found] = several.responses()
    assert (found[followed], found[led][0]) == (NOTHING, OUT_OF_RANGE)


def test_what_a_follower_has_read_does_not_wait_for_the_rest(several: Several) -> None:
    first, second = several.followed[:2]
    several.send(first, second, max_bytes=2 * ROOM)
    several.read(first)
    several.shared.advance(450)
    assert several.responses() == [{first: FOLLOWED, second: NOTHING}]


@pytest.mark.parametrize("max_wait_ms", [0, 10])
def test_a_client_that_hardly_waits_is_served_by_a_follower(
    several: Several, max_wait_ms: int
) -> None:
    """Each read takes a while: without that the partition would never be served."""
    followed, led = several.followed[0], several.led[0]
    several.send(followed, led, max_wait_ms=max_wait_ms)
    several.shared.advance(300)
    several.read(followed)
    assert several.responses() == [{followed: FOLLOWED, led: LED}]


@pytest.mark.parametrize("max_wait_ms", [0, 500, 8000])
def test_a_client_goes_to_the_leader_if_the_bucket_is_slow(
    several: Several, max_wait_ms: int
) -> None:
    first, second = several.followed[:2]
    several.send(first, second, max_bytes=1, max_wait_ms=max_wait_ms)
    several.shared.advance(PATIENCE_MS - 100)
    assert several.responses() == []
    several.shared.advance(600)
    [found] = several.responses()
    assert (found[first][0], found[second]) == (NOT_LEADER, NOTHING)
    assert [one.is_abandoned for one in several.reads] == [True]


def test_a_read_that_begins_later_has_its_time(several: Several) -> None:
    """When the response had room for it, after another partition was in memory."""
    followed, led = several.followed[0], several.led[0]
    log = several.follower.log
    log.loading, log.loading_of = Pending(), several.ids[led]
    several.send(led, followed)
    several.shared.advance(PATIENCE_MS - 1000)
    assert several.reads == []
    log.load()
    several.shared.run()
    several.shared.advance(400)
    assert several.responses() == [] and len(several.reads) == 1
    several.read(followed)
    assert several.responses() == [{led: LED, followed: FOLLOWED}]


# ---- a leader, of records that are in objects and of others


def outcomes(client: FakeClient) -> list[list[tuple[int, bool]]]:
    """The replicas that the partitions name, and whether they have records."""
    return [
        [(one.preferred_read_replica, bool(one.records)) for one in found.responses[0].partitions]
        for found in client.responses()
    ]


@pytest.mark.parametrize("is_loaded", [True, False])
def test_a_client_has_not_returned_when_its_fetch_is_repeated(
    several: Several, is_loaded: bool
) -> None:
    """It was repeated when the records of another partition were in memory, or its time over."""
    leader = several.cluster.leader
    leader.sealed_log.end_offset = 1
    sealed, cold = several.followed[:2]
    leader.log.loading, leader.log.loading_of = Pending(), several.ids[cold]
    client = leader.client()
    several.send_to(client, [(sealed, 0), (cold, 1)], 2 * ROOM)
    assert client.responses() == []
    if is_loaded:
        leader.log.load()
    else:
        several.shared.advance(500)
    several.shared.run()
    assert outcomes(client) == [[(2, False), (-1, is_loaded)]]
    leader.log.loading = None
    several.send_to(client, [(sealed, 0)])
    assert outcomes(client) == [[(-1, True)]]  # now it has
