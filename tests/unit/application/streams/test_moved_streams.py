"""A stream whose leader changes, where two brokers share a store. Broker 1 leads at first."""

from __future__ import annotations

import pytest

from application.partitions.delete_records import RecordsToDelete
from tests.fakes.batches import record_batch
from tests.fakes.raw import TOPIC, RawListener
from tests.fakes.shared_store import SharedStore

ELSEWHERE = "Node 2 leads the partition."


class Streams(SharedStore):
    def __init__(self) -> None:
        super().__init__()
        for node_id in (1, 2):
            self.start(node_id, raw_listeners=":0", raw_topic=TOPIC)
        self.partition_id = self.topic(TOPIC).partition_ids[0]
        self.first, self.second = (
            RawListener(broker, self.run) for broker in self.brokers.values()
        )

    def ask(self, node_id: int) -> None:
        """For a move, by broker 2."""
        self.brokers[2].changes.check()
        registrations = self.brokers[2].core.registrations
        assert registrations is not None
        one = registrations.find(self.partition_id)
        assert one is not None
        registrations.save([(self.partition_id, one._replace(target=(node_id,)))])
        self.run()

    def move(self, node_id: int) -> None:
        self.ask(node_id)
        assert self.brokers[2].leader(self.partition_id)[0] == node_id

    def ends(self) -> list[int]:
        """The keys of the rows of the index."""
        keys = self.data.tables.get("positions", {})
        return sorted(int.from_bytes(key[4:], "big") for key in keys)


@pytest.fixture
def streams() -> Streams:
    return Streams()


def why_closed(listener: RawListener) -> list[tuple[object, object]]:
    return [(one["reason"], one["detail"]) for one in listener.events.of("connection_closed")]


def test_positions_continue_where_another_leader_has_ended(streams: Streams) -> None:
    first, second = streams.first, streams.second
    assert first.produce(b"aaaaa", b"aaaaa", b"aaaaa") == [0, 9, 18]
    old = first.consumer()
    streams.move(2)
    assert [second.produce(b"bbbbb") for _ in range(3)] == [[27], [36], [45]]
    records = [RecordsToDelete(TOPIC, 0, 5)]
    streams.brokers[2].broker.messages.delete_records.delete(records)
    streams.advance(200)
    streams.move(1)
    new = first.consumer(54)
    assert first.produce(b"ccccc") == [54]
    assert new.records() == [b"ccccc"]
    assert old.records() == [b"aaaaa"] * 3
    assert streams.ends()[-2:] == [54, 63]


def test_consumers_are_closed_when_the_leader_changes(streams: Streams) -> None:
    streams.first.produce(b"one")
    consumers = [streams.first.consumer(start) for start in (0, 7)]
    streams.brokers[1].commit.hold()
    streams.ask(2)
    assert all(one.transport.closing for one in consumers)
    assert len(streams.brokers[1].core.purgatory) == 0
    assert streams.first.why_closed() == ["stream_ended"]
    streams.brokers[1].commit.let_go()
    streams.run()
    assert streams.second.consumer(7).records() == []
    assert streams.second.consumer(0).records() == [b"one"]


def test_a_producer_is_closed_at_its_next_record(streams: Streams) -> None:
    """Also if the leader is back by then."""
    for back in (False, True):
        producer = streams.first.producer()
        producer.send(b"one")
        streams.run()
        [position] = producer.positions()
        streams.move(2)
        assert not producer.transport.closing
        if back:
            streams.move(1)
        producer.send(b"two")
        streams.run()
        assert (producer.positions(), producer.transport.closing) == ([], True)
        if not back:
            assert why_closed(streams.first) == [("record_refused", ELSEWHERE)]
            streams.move(1)
        assert streams.first.produce(b"three") == [position + 7]


def test_a_broker_that_does_not_lead_closes_connections(streams: Streams) -> None:
    producer, consumer = streams.second.producer(), streams.second.consumer()
    producer.send(b"one")
    streams.run()
    assert producer.transport.closing and consumer.transport.closing
    leader = "Node 1 leads the partition."
    assert why_closed(streams.second) == [("stream_ended", leader), ("record_refused", leader)]
    assert streams.first.produce(b"two") == [0]


def test_a_record_in_the_commit_under_way_gets_its_position(streams: Streams) -> None:
    producer = streams.first.producer()
    producer.send(b"one")
    streams.brokers[1].commit.hold()
    streams.run()
    streams.ask(2)
    assert streams.brokers[1].leader(streams.partition_id)[0] == -1
    assert producer.positions() == []
    streams.brokers[1].commit.let_go()
    streams.run()
    assert producer.positions() == [0]
    assert streams.brokers[1].leader(streams.partition_id)[0] == 2
    assert streams.second.produce(b"two") == [7]


def test_a_record_without_a_position_closes_its_producer(streams: Streams) -> None:
    """It is stored, and the next leader counts it: the producer cannot know."""
    streams.first.produce(b"one")
    producer = streams.first.producer()
    streams.brokers[1].append(record_batch(["two"]), TOPIC)
    producer.send(b"three")
    streams.brokers[1].commit.hold()
    streams.run()
    streams.ask(2)
    streams.brokers[1].commit.let_go()
    streams.run()
    assert (producer.positions(), producer.session.in_flight) == ([], 0)
    assert why_closed(streams.first) == [("record_refused", ELSEWHERE)]
    assert streams.second.produce(b"four") == [23]
    assert streams.second.consumer().records() == [b"one", b"two", b"three", b"four"]


def test_a_record_whose_commit_is_fenced_closes_its_producer(streams: Streams) -> None:
    producer = streams.first.producer()
    streams.brokers[1].commit.hold()
    producer.send(b"lost")
    streams.run()
    streams.fence(1)
    streams.brokers[1].commit.let_go()
    streams.run()
    assert (producer.positions(), producer.session.in_flight) == ([], 0)
    assert streams.first.why_closed() == ["record_refused"]
    assert streams.second.produce(b"two") == [0]


def test_after_a_hand_over_that_failed_positions_follow_the_last_durable_record(
    streams: Streams,
) -> None:
    assert streams.first.produce(b"one") == [0]
    producer, consumer = streams.first.producer(), streams.first.consumer()
    producer.send(b"lost")
    streams.brokers[1].commit.hold()
    streams.run()
    streams.ask(2)
    streams.brokers[1].commit.let_fail()
    streams.run()
    assert (producer.positions(), producer.transport.closing) == ([], True)
    assert consumer.transport.closing
    leader = streams.brokers[1].leader(streams.partition_id)[0]
    now = streams.first if leader == 1 else streams.second
    assert now.produce(b"two") == [7]
    assert now.consumer().records() == [b"one", b"two"]


def test_the_index_does_not_go_on_behind_a_move(streams: Streams) -> None:
    """Its next rows are those of the new leader, which may know that records were removed."""
    broker = streams.brokers[1]
    broker.appended(record_batch(["one"]), TOPIC)
    broker.log.wait_in("read")
    streams.first.consumer()
    streams.move(2)
    broker.log.load()
    streams.run()
    assert streams.ends() == []
    assert streams.second.produce(b"two") == [7]
