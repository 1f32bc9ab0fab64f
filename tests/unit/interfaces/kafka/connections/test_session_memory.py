"""What a session keeps in memory for a slow client, unread responses and large requests."""

from __future__ import annotations

import pytest

from interfaces.connections.framing import READ_BUFFER_BYTES
from interfaces.kafka.connections.connection import PARKED_BYTES
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka, frame, raw_frame
from tests.fakes.requests import fetch, kinds, offsets, produce

LARGE = produce("x" * 2 * READ_BUFFER_BYTES)
LARGE_FRAME = frame(LARGE, 9)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


# ---- parked requests and unread responses


def test_a_parked_request_is_copied_from_the_shared_read_buffer(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(fetch(), 12)
    client.send(produce("from the first"), 9)
    kafka.client().request(produce("from the second"), 9)
    kafka.run()
    assert kinds(client.responses()) == ["Fetch", "Produce"]
    assert b"from the first" in kafka.stored()


def test_a_connection_with_many_parked_bytes_is_not_read(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(fetch(), 12)
    one = frame(produce("x" * 30_000), 9, 2)
    sent = one * 10
    taken = client.transport.receive(sent, at_most=len(one))
    assert PARKED_BYTES < taken < PARKED_BYTES + len(one) * 2
    assert not client.transport.reading
    kafka.client().request(produce(), 9)
    assert client.transport.reading
    client.transport.receive(sent[taken:])
    kafka.run()
    assert kafka.partition().high_watermark == 11
    assert len(client.frames()) == 11


@pytest.mark.parametrize("requests_at_once", [1, 10])
def test_a_connection_with_many_unread_bytes_is_not_read_and_runs_nothing(
    kafka: FakeKafka, requests_at_once: int
) -> None:
    """Of ten responses with a megabyte each, two are sent at a time."""
    kafka.appended(record_batch(["x" * 1_000_000]))
    kafka.shared.max_unsent_bytes = 1_500_000
    client = kafka.client()
    client.transport.stop_reading()
    for _ in range(10 // requests_at_once):
        client.transport.send(frame(fetch(), 12) * requests_at_once)
    kafka.run()
    assert not client.transport.reading
    for responses in (2, 2, 2, 2, 2, 0):
        assert client.transport.get_write_buffer_size() < 2_100_000
        client.transport.read_on()
        client.transport.stop_reading()
        assert len(client.frames()) == responses
        kafka.run()
    assert client.transport.reading


def test_responses_of_commits_are_sent_although_much_is_unread(kafka: FakeKafka) -> None:
    kafka.shared.max_unsent_bytes = 10
    client = kafka.client()
    client.transport.stop_reading()
    for _ in range(3):
        client.send(produce(), 9)
    kafka.run()
    assert not client.transport.reading
    client.transport.read_on()
    kafka.run()
    assert offsets(client.responses()) == [0, 1, 2]
    assert client.transport.reading


def test_completed_responses_behind_an_incomplete_one_count_as_unread(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.transport.stop_reading()
    kafka.commit.hold()
    client.send(produce(), 9)
    kafka.run()
    client.send(produce(), 9)
    client.send(produce(index=99), 9)  # refused at once, sent in its order
    refused_bytes = client.session.unread_bytes
    assert refused_bytes > 0
    kafka.commit.let_go()
    sent_bytes = client.transport.get_write_buffer_size()
    assert sent_bytes > 0, "the first; the second waits for the next commit"
    assert client.session.unread_bytes == refused_bytes + sent_bytes
    client.transport.read_on()
    kafka.run()
    assert (len(client.frames()), client.session.unread_bytes) == (3, 0)


# ---- large requests and their budget


def test_a_request_larger_than_the_read_buffer_arrives(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(LARGE, 9)
    kafka.run()
    assert offsets(client.responses()) == [0]
    assert kafka.stored().count(b"x") == 2 * READ_BUFFER_BYTES
    assert kafka.shared.memory.used_bytes == 0


def test_large_requests_wait_for_memory_and_small_ones_do_not() -> None:
    kafka = FakeKafka(queued_max_request_bytes=str(3 * READ_BUFFER_BYTES))
    kafka.topic("t", 2)
    first, second = kafka.client(), kafka.client()
    half = len(LARGE_FRAME) // 2
    first.transport.send(LARGE_FRAME[:half])
    assert kafka.shared.memory.used_bytes == len(LARGE_FRAME) - 4
    second.transport.send(LARGE_FRAME)
    assert not second.transport.reading
    assert offsets([kafka.client().request(produce("small"), 9)]) == [0]
    first.transport.send(LARGE_FRAME[half:])
    kafka.run()
    assert second.transport.reading
    assert (len(first.frames()), len(second.frames())) == (1, 1)
    assert kafka.shared.memory.used_bytes == 0


def test_a_connection_that_ends_while_it_waits_for_memory_leaves_the_queue() -> None:
    kafka = FakeKafka(queued_max_request_bytes=str(READ_BUFFER_BYTES))
    kafka.topic("t", 2)
    holder, ended, waiting = (kafka.client() for _ in range(3))
    for client in (holder, ended, waiting):
        client.transport.send(LARGE_FRAME[:1000])
    assert len(kafka.shared.memory) == 2
    ended.transport.drop()
    kafka.run()
    for client in (holder, waiting):
        client.transport.send(LARGE_FRAME[1000:])
        kafka.run()
    assert len(waiting.frames()) == 1
    assert (len(kafka.shared.memory), kafka.shared.memory.used_bytes) == (0, 0)


def test_a_parked_large_request_keeps_its_memory_until_it_has_run(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(fetch(), 12)
    client.send(LARGE, 9)
    assert kafka.shared.memory.used_bytes > 2 * READ_BUFFER_BYTES
    kafka.client().request(produce(), 9)
    assert kinds(client.responses()) == ["Fetch", "Produce"]
    assert kafka.shared.memory.used_bytes == 0


@pytest.mark.parametrize("parked", [False, True])
def test_a_connection_that_ends_frees_the_memory_of_its_large_request(
    kafka: FakeKafka, client: FakeClient, parked: bool
) -> None:
    if parked:
        client.send(fetch(), 12)
    client.transport.send(LARGE_FRAME if parked else LARGE_FRAME[:200_000])
    assert kafka.shared.memory.used_bytes > 2 * READ_BUFFER_BYTES
    client.transport.drop()
    kafka.run()
    assert kafka.shared.memory.used_bytes == 0


def test_a_malformed_large_request_frees_its_memory(kafka: FakeKafka, client: FakeClient) -> None:
    client.transport.send(raw_frame(0, 9, b"\xff" * 200_000))
    kafka.run()
    assert client.closed
    assert kafka.shared.memory.used_bytes == 0
