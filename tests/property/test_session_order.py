"""Many clients that send requests, stop reading and disconnect, over commits that are slow or fail:
every response comes once and in order, and nothing stays allocated."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from interfaces.connections.framing import READ_BUFFER_BYTES
from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka

CLIENT = st.integers(0, 2)


def produce(acks: int = -1, value_bytes: int = 1) -> tuple[Request, int]:
    batch = memoryview(record_batch(["x" * value_bytes]))
    data = PartitionProduceData(index=0, records=batch)
    topic = TopicProduceData(name="t", partition_data=[data])
    return ProduceRequest(acks=acks, topic_data=[topic]), 9


def fetch(max_wait_ms: int, min_bytes: int) -> tuple[Request, int]:
    sent = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic="t", partitions=[sent])]
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=min_bytes, topics=topics), 12


REQUESTS = st.one_of(
    st.sampled_from([-1, 0, 1]).map(produce),
    st.just((MetadataRequest(topics=None), 12)),
    st.builds(fetch, st.sampled_from([0, 100]), st.sampled_from([1, 1 << 20])),
    st.just(produce(-1, READ_BUFFER_BYTES)),
    st.just(produce(-1, 40_000)),
)


class Sessions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.kafka = FakeKafka(
            queued_max_request_bytes=str(READ_BUFFER_BYTES), connection_unsent_max_bytes="1000"
        )
        self.kafka.topic("t")
        self.clients = [self.new_client() for _ in range(3)]

    def new_client(self) -> FakeClient:
        client = self.kafka.client()
        self.sent: dict[FakeClient, list[int]] = getattr(self, "sent", {})
        self.got: dict[FakeClient, int] = getattr(self, "got", {})
        self.sent[client] = []
        self.got[client] = 0
        return client

    @rule(which=CLIENT, call=REQUESTS)
    def request(self, which: int, call: tuple[Request, int]) -> None:
        client = self.clients[which]
        if client.closed:
            return
        request, version = call
        correlation_id = client.send(request, version)
        if getattr(request, "acks", None) != 0:
            self.sent[client].append(correlation_id)

    @rule(which=CLIENT)
    def go_away(self, which: int) -> None:
        self.clients[which].transport.drop()
        self.kafka.run()
        self.clients[which] = self.new_client()

    @rule(which=CLIENT)
    def stop_reading(self, which: int) -> None:
        self.clients[which].transport.stop_reading()

    @rule(which=CLIENT)
    def read_on(self, which: int) -> None:
        if not self.clients[which].transport.lost:
            self.clients[which].transport.read_on()

    @rule()
    def one_pass(self) -> None:
        self.kafka.scheduler.run_pass()

    @rule(ms=st.sampled_from([1, 99, 100]))
    def time_goes_by(self, ms: int) -> None:
        self.kafka.scheduler.advance(ms)

    @rule()
    def slow_disk(self) -> None:
        self.kafka.commit.hold()

    @precondition(lambda self: self.kafka.commit.under_way)
    @rule(fails=st.booleans())
    def disk_is_done(self, fails: bool) -> None:
        if fails:
            self.kafka.commit.let_fail()
        else:
            self.kafka.commit.let_go()

    @invariant()
    def responses_come_in_order(self) -> None:
        for client in self.clients:
            self.got[client] += len(client.responses())
            assert self.got[client] <= len(self.sent[client])

    def teardown(self) -> None:
        self.kafka.commit.holding = False
        for _ in range(3):
            if self.kafka.commit.under_way:
                self.kafka.commit.let_go()
            for client in self.clients:
                if not client.transport.lost:
                    client.transport.read_on()
            self.kafka.scheduler.advance(1000)
        self.responses_come_in_order()
        for client in self.clients:
            assert client.closed or self.got[client] == len(self.sent[client])
            assert client.closed or client.transport.reading
        for client in self.clients:
            client.transport.drop()
        self.kafka.run()
        shared = self.kafka.shared
        assert (shared.memory.used_bytes, len(shared.memory), len(shared.sessions)) == (0, 0, 0)
        assert self.kafka.scheduler.timers == []
        assert self.kafka.events.of("request_failed") == []
        assert self.kafka.partition().high_watermark == self.kafka.partition().end.next_offset


Sessions.TestCase.settings = settings(stateful_step_count=30)
TestSessions = pytest.mark.timeout(600)(Sessions.TestCase)  # with --long
