"""What a Session holds for a client that is slow, does not read, or sends what is large."""

from __future__ import annotations

import pytest

from interfaces.kafka.connections.connection import PARKED_BYTES, READ_BUFFER_BYTES
from interfaces.kafka.wire.messages.produce import (
    ProduceRequest,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeKafka, frame, raw_frame
from tests.fakes.requests import fetch, kinds, offsets, produce


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


# ---- a client that is slow, or does not read


def test_what_may_not_run_yet_is_kept_although_the_buffer_is_used_again(kafka: FakeKafka) -> None:
    client, other = kafka.client(), kafka.client()
    client.send(fetch(), 12)
    client.send(produce("from the first"), 9)
    other.ask(produce("from the second"), 9)
    kafka.run()
    assert kinds(client.answers()) == ["Fetch", "Produce"]
    assert b"from the first" in kafka.stored()


def test_too_much_ahead_of_a_waiting_request_is_not_read(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(fetch(), 12)
    big = produce("x" * 30_000)
    one = frame(big, 9, 2)
    sent = one * 10
    taken = client.transport.receive(sent, at_most=len(one))
    assert PARKED_BYTES < taken < PARKED_BYTES + len(one) * 2
    assert not client.transport.reading
    kafka.client().ask(produce(), 9)
    assert client.transport.reading
    client.transport.receive(sent[taken:])
    kafka.run()
    assert kafka.partition().high_watermark == 11
    assert len(client.frames()) == 11


def test_a_client_that_does_not_read_is_not_read_from(kafka: FakeKafka) -> None:
    kafka.appended(record_batch(["x" * 1_000_000]))
    kafka.shared.max_unsent_bytes = 1_500_000
    client = kafka.client()
    client.transport.stop_reading()
    request = frame(fetch(), 12)
    taken = client.transport.receive(request * 10, at_most=len(request))
    assert (taken, client.transport.reading) == (2 * len(request), False)
    assert client.transport.get_write_buffer_size() < 2_100_000
    client.transport.read_on()
    kafka.run()
    assert client.transport.reading
    assert len(client.frames()) == 2
    client.transport.receive(request * 8)
    assert len(client.frames()) == 8


def test_while_a_client_does_not_read_its_parked_requests_wait(kafka: FakeKafka) -> None:
    kafka.appended(record_batch(["x" * 1_000_000]))
    kafka.shared.max_unsent_bytes = 1_500_000
    client = kafka.client()
    client.transport.stop_reading()
    client.transport.receive(frame(fetch(), 12) * 10)
    kafka.run()
    assert client.transport.get_write_buffer_size() < 2_100_000
    for expected in (2, 2, 2, 2, 2, 0):
        client.transport.read_on()
        client.transport.stop_reading()
        assert len(client.frames()) == expected
        kafka.run()
    assert client.transport.reading


def test_commits_are_answered_even_to_a_client_that_does_not_read(kafka: FakeKafka) -> None:
    kafka.shared.max_unsent_bytes = 10
    client = kafka.client()
    client.transport.stop_reading()
    for _ in range(3):
        client.send(produce(), 9)
    kafka.run()
    assert not client.transport.reading
    client.transport.read_on()
    kafka.run()
    assert offsets(client.answers()) == [0, 1, 2]
    assert client.transport.reading


def test_answers_behind_one_that_is_not_complete_are_not_counted_as_sent(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.stop_reading()
    kafka.commit.hold()
    client.send(produce(), 9)
    kafka.run()
    client.send(produce(), 9)
    client.send(produce(index=99), 9)  # refused at once, and in its turn
    refused_bytes = client.session.unread_bytes
    assert refused_bytes > 0
    kafka.commit.let_go()
    sent_bytes = client.transport.get_write_buffer_size()
    assert sent_bytes > 0, "the first; the second waits for the next commit"
    assert client.session.unread_bytes == refused_bytes + sent_bytes
    client.transport.read_on()
    kafka.run()
    assert (len(client.frames()), client.session.unread_bytes) == (3, 0)


# ---- large frames and their budget


def large(value_bytes: int = 2 * READ_BUFFER_BYTES) -> ProduceRequest:
    return produce("x" * value_bytes)


def test_a_frame_larger_than_the_buffer_arrives_whole(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(large(), 9)
    kafka.run()
    assert offsets(client.answers()) == [0]
    assert kafka.stored().count(b"x") == 2 * READ_BUFFER_BYTES
    assert kafka.shared.memory.used_bytes == 0


def test_large_frames_wait_until_others_have_given_their_memory_back() -> None:
    kafka = FakeKafka(queued_max_request_bytes=str(3 * READ_BUFFER_BYTES))
    kafka.topic("t", 2)
    first, second = kafka.client(), kafka.client()
    sent = frame(large(), 9)
    half = len(sent) // 2
    first.transport.send(sent[:half])
    assert kafka.shared.memory.used_bytes == len(sent) - 4
    second.transport.send(sent)
    assert not second.transport.reading
    small = kafka.client()
    assert offsets([small.ask(produce("small"), 9)]) == [0], "small requests go on"
    first.transport.send(sent[half:])
    kafka.run()
    assert second.transport.reading
    assert (len(first.frames()), len(second.frames())) == (1, 1)
    assert kafka.shared.memory.used_bytes == 0


def test_a_connection_that_ends_gives_its_memory_back(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.send(frame(large(), 9)[:200_000])
    assert kafka.shared.memory.used_bytes > 0
    client.transport.drop()
    kafka.run()
    assert kafka.shared.memory.used_bytes == 0


def test_a_connection_that_ends_while_it_waits_for_memory_leaves_the_line() -> None:
    kafka = FakeKafka(queued_max_request_bytes=str(READ_BUFFER_BYTES))
    kafka.topic("t", 2)
    holder, gone, next_in_line = (kafka.client() for _ in range(3))
    sent = frame(large(), 9)
    for client in (holder, gone, next_in_line):
        client.transport.send(sent[:1000])
    assert len(kafka.shared.memory) == 2
    gone.transport.drop()
    kafka.run()
    holder.transport.send(sent[1000:])
    kafka.run()
    next_in_line.transport.send(sent[1000:])
    kafka.run()
    assert len(next_in_line.frames()) == 1
    assert (len(kafka.shared.memory), kafka.shared.memory.used_bytes) == (0, 0)


def test_parked_large_frames_keep_their_memory_until_they_have_run(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(fetch(), 12)
    client.send(large(), 9)
    assert kafka.shared.memory.used_bytes > 2 * READ_BUFFER_BYTES
    kafka.client().ask(produce(), 9)
    assert kinds(client.answers()) == ["Fetch", "Produce"]
    assert kafka.shared.memory.used_bytes == 0


def test_parked_large_frames_of_a_connection_that_ends_are_given_back(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(fetch(), 12)
    client.send(large(), 9)
    client.transport.drop()
    kafka.run()
    assert kafka.shared.memory.used_bytes == 0


def test_a_large_frame_that_is_malformed_gives_its_memory_back(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.send(raw_frame(0, 9, b"\xff" * 200_000))
    kafka.run()
    assert client.closed
    assert kafka.shared.memory.used_bytes == 0
