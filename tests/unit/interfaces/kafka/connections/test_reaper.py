"""How long a client may keep a connection, a request's memory or an answer; time moved by hand."""

from __future__ import annotations

import pytest

from interfaces.kafka.connections.connection import READ_BUFFER_BYTES
from interfaces.kafka.connections.reaper import SLOWEST_BYTES_A_SECOND, STALLED_MS
from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka, frame
from tests.fakes.requests import fetch, produce

MINUTE_MS = 60_000
LARGE = frame(produce("x" * 2 * READ_BUFFER_BYTES), 9)
#: Longer than one look after another.
LOOK_MS = STALLED_MS // 3
#: When somebody who keeps what others wait for has had the time.
ENOUGH_MS = STALLED_MS + len(LARGE) * 1000 // SLOWEST_BYTES_A_SECOND + 2 * LOOK_MS


def waiting_fetch(kafka: FakeKafka, max_wait_ms: int) -> FetchRequest:
    kafka.topic("t")
    wanted = FetchPartition(partition=0, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic="t", partitions=[wanted])
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=[topic])


# ---- idle connections


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(connections_max_idle_ms="60000")
    kafka.shared.watch_idle()
    return kafka


def test_a_silent_connection_is_closed_after_its_time(kafka: FakeKafka) -> None:
    client = kafka.client()
    kafka.scheduler.advance(MINUTE_MS)
    assert not client.closed
    kafka.scheduler.advance(MINUTE_MS // 2)
    assert client.closed
    assert kafka.shared.sessions == {}
    assert kafka.events.of("connection_closed") == [], "nothing that anybody has to know"


def test_a_connection_that_asks_now_and_then_stays(kafka: FakeKafka) -> None:
    client = kafka.client()
    for _ in range(6):
        kafka.scheduler.advance(MINUTE_MS // 2)
        client.ask(MetadataRequest(topics=[]), 12)
    assert not client.closed


def test_a_connection_that_waits_for_its_answer_is_not_idle(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(waiting_fetch(kafka, 10 * MINUTE_MS), 12)
    kafka.scheduler.advance(9 * MINUTE_MS)
    assert not client.closed
    kafka.scheduler.advance(MINUTE_MS)
    assert len(client.answers()) == 1


@pytest.mark.parametrize("idle_ms", ["60000", "-1"])
def test_a_frame_of_which_nothing_more_comes_is_given_up(idle_ms: str) -> None:
    kafka = FakeKafka(connections_max_idle_ms=idle_ms)
    kafka.shared.watch_idle()
    stalled, silent = kafka.client(), kafka.client()
    stalled.transport.receive(frame(MetadataRequest(topics=[]), 12)[:9])
    kafka.scheduler.advance(STALLED_MS + MINUTE_MS // 4)
    assert (stalled.closed, silent.closed) == (True, False)
    assert stalled.why_closed() == "incomplete_request"


def test_with_a_negative_time_nobody_is_idle() -> None:
    kafka = FakeKafka(connections_max_idle_ms="-1")
    kafka.shared.watch_idle()
    client = kafka.client()
    kafka.scheduler.advance(60 * MINUTE_MS)
    assert not client.closed


@pytest.mark.parametrize("why", ["idle", "malformed"])
def test_a_client_that_leaves_its_answers_unread_cannot_stay_for_ever(
    kafka: FakeKafka, why: str
) -> None:
    """A transport waits with its end until everything is sent: somebody has to give that up."""
    client = kafka.client()
    client.transport.stop_reading()
    client.send(MetadataRequest(topics=[]), 12)
    if why == "malformed":
        client.transport.receive(b"\xff" * 20)
    kafka.scheduler.advance(5 * MINUTE_MS)
    assert client.transport.aborted
    assert kafka.shared.sessions == {}


def reads_a_little(client: FakeClient) -> None:
    largest = max(client.transport._unsent, key=len)
    client.transport._unsent = [largest[100:]]


def test_a_client_that_reads_a_large_answer_slowly_is_not_idle(kafka: FakeKafka) -> None:
    kafka.topic("t")
    kafka.appended(record_batch(["x" * 100_000]))
    slow = never_reading(kafka)
    for _ in range(30):
        reads_a_little(slow)
        kafka.scheduler.advance(MINUTE_MS // 3)
    assert not slow.closed
    kafka.scheduler.advance(2 * MINUTE_MS)
    assert slow.transport.aborted


def test_after_its_end_a_connection_stays_as_long_as_its_answers_are_read(
    kafka: FakeKafka,
) -> None:
    kafka.topic("t")
    kafka.appended(record_batch(["x" * 100_000]))
    slow = never_reading(kafka)
    slow.session.close("internal_error")
    for _ in range(10):
        reads_a_little(slow)
        kafka.scheduler.advance(STALLED_MS // 3)
    assert slow.closed and not slow.transport.aborted
    kafka.scheduler.advance(2 * STALLED_MS)
    assert slow.transport.aborted


def test_a_request_that_cannot_be_answered_any_more_is_not_waited_for(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.stop_reading()
    client.send(MetadataRequest(topics=[]), 12)
    client.send(waiting_fetch(kafka, 100 * MINUTE_MS), 12)
    client.session.close("internal_error")
    kafka.scheduler.advance(5 * MINUTE_MS)
    assert client.transport.aborted


# ---- large requests that others wait for


@pytest.fixture
def narrow() -> FakeKafka:
    """There is memory for one large request."""
    kafka = FakeKafka(
        queued_max_request_bytes=str(READ_BUFFER_BYTES), connections_max_idle_ms=str(100_000_000)
    )
    kafka.shared.watch_idle()
    kafka.topic("t")
    return kafka


def trickle(kafka: FakeKafka, client: FakeClient, for_ms: int) -> None:
    """A byte at every look, so that the request is never stalled."""
    for passed in range(0, for_ms, LOOK_MS):
        client.transport.send(LARGE[passed // LOOK_MS :][:1])
        kafka.scheduler.advance(LOOK_MS)


def test_a_large_request_that_trickles_is_given_up_when_others_wait(narrow: FakeKafka) -> None:
    slow, other = narrow.client(), narrow.client()
    slow.transport.send(LARGE[:1000])
    other.transport.send(LARGE)
    trickle(narrow, slow, ENOUGH_MS)
    assert slow.transport.aborted
    assert slow.why_closed() == "slow_request"
    assert len(other.frames()) == 1
    assert narrow.shared.memory.used_bytes == 0


def test_while_nobody_waits_a_large_request_may_trickle(narrow: FakeKafka) -> None:
    slow = narrow.client()
    slow.transport.send(LARGE[:1000])
    trickle(narrow, slow, 10 * ENOUGH_MS)
    assert not slow.closed


def test_who_sends_one_large_request_after_another_may_go_on_while_others_wait(
    narrow: FakeKafka,
) -> None:
    """Each look finds a large request under way, and each time it is another one."""
    busy, other, third = narrow.client(), narrow.client(), narrow.client()
    busy.transport.send(LARGE[:1000])
    for _ in range(3 * ENOUGH_MS // LOOK_MS):
        for waiting in (other, third):
            waiting.transport.send(LARGE[:1000])
        narrow.scheduler.advance(LOOK_MS)
        for client in (busy, other, third):
            client.transport.send(LARGE[1000:])
            narrow.run()
        busy.transport.send(LARGE[:1000])
    assert not busy.closed and not other.closed and not third.closed


def test_who_has_waited_for_memory_has_the_whole_time_to_send(narrow: FakeKafka) -> None:
    holder, waiting = narrow.client(), narrow.client()
    holder.transport.send(LARGE[:1000])
    waiting.transport.send(LARGE[:1000])
    every_ms = STALLED_MS // 4
    for at in range(1000, 1004):
        narrow.scheduler.advance(every_ms)
        holder.transport.send(LARGE[at : at + 1])
    holder.transport.send(LARGE[1004:])
    narrow.run()
    assert len(holder.frames()) == 1
    assert waiting.session.connection.large_bytes, (
        "it is admitted, and its first bytes are on their way"
    )
    narrow.scheduler.advance(every_ms)
    waiting.transport.send(LARGE[1000:])
    narrow.run()
    assert len(waiting.frames()) == 1, waiting.why_closed()


def test_a_large_request_behind_one_that_waits_for_ever_is_given_up(narrow: FakeKafka) -> None:
    """It is here as a whole, and keeps its memory because the client made it wait."""
    patient, other = narrow.client(), narrow.client()
    patient.send(fetch(max_wait_ms=2**31 - 1), 12)
    patient.transport.send(LARGE)
    other.transport.send(LARGE)
    narrow.scheduler.advance(ENOUGH_MS)
    assert patient.transport.aborted
    assert len(other.frames()) == 1


# ---- answers that nobody reads


def never_reading(kafka: FakeKafka) -> FakeClient:
    client = kafka.client()
    client.transport.stop_reading()
    client.send(fetch(max_wait_ms=0), 12)
    kafka.run()
    return client


@pytest.fixture
def full() -> FakeKafka:
    """Ten batches of 100 kB to fetch, and half a megabyte for all unread answers."""
    kafka = FakeKafka(queued_max_response_bytes="500000", connections_max_idle_ms=str(100_000_000))
    kafka.shared.watch_idle()
    kafka.topic("t")
    for _ in range(10):
        kafka.appended(record_batch(["x" * 100_000]))
    return kafka


def test_while_much_is_unread_a_fetch_gets_one_batch_at_a_time(full: FakeKafka) -> None:
    sizes = [never_reading(full).session.unread_bytes // 100_000 for _ in range(4)]
    assert sizes == [4, 1, 1, 1]
    assert full.shared.response_budget.count() < 500_000 + 4 * 101_000


def test_what_was_read_makes_room_again(full: FakeKafka) -> None:
    client = never_reading(full)
    client.transport.read_on()
    full.run()
    assert full.shared.response_budget.room() == 500_000
    assert never_reading(full).session.unread_bytes > 400_000


def test_a_late_answer_is_bounded_by_what_is_unread_then(full: FakeKafka) -> None:
    """It was asked for when there was room."""
    late = full.client()
    late.transport.stop_reading()
    request = fetch(max_wait_ms=1000)
    request.min_bytes = 2**31 - 1
    request.topics[0].partitions[0].fetch_offset = 6
    late.send(request, 12)
    never_reading(full)
    full.scheduler.advance(1000)
    assert late.session.unread_bytes // 100_000 == 1


def test_who_reads_nothing_for_a_while_is_sent_away_when_much_is_unread(full: FakeKafka) -> None:
    deaf = never_reading(full)
    full.scheduler.advance(STALLED_MS + 2 * LOOK_MS)
    assert deaf.transport.aborted
    assert deaf.why_closed() == "slow_reader"
    assert full.shared.response_budget.count() == 0


def test_who_reads_slowly_stays(full: FakeKafka) -> None:
    slow = never_reading(full)
    for _ in range(20):
        reads_a_little(slow)
        full.scheduler.advance(LOOK_MS)
        never_reading(full).transport.drop()
    assert not slow.closed


def test_while_little_is_unread_nobody_is_sent_away() -> None:
    kafka = FakeKafka(connections_max_idle_ms=str(100_000_000))
    kafka.shared.watch_idle()
    kafka.topic("t")
    kafka.appended(record_batch(["x" * 100_000]))
    deaf = never_reading(kafka)
    kafka.scheduler.advance(20 * STALLED_MS)
    assert not deaf.closed


def test_when_twice_as_much_is_unread_as_may_be_the_largest_go(full: FakeKafka) -> None:
    clients = [never_reading(full) for _ in range(8)]
    gone = [number for number, client in enumerate(clients) if client.transport.aborted]
    assert gone == [0, 1, 2], "the one with four batches first, and down to the limit"
    assert full.shared.response_budget.count() <= 600_000
    assert clients[0].why_closed() == "slow_reader"


def test_until_they_have_gone_nobody_is_answered_and_then_everybody(full: FakeKafka) -> None:
    """Their memory is not back before the next pass, and in one pass many may ask."""
    for _ in range(6):
        never_reading(full)
    late = [full.client() for _ in range(20)]
    for client in late:
        client.transport.stop_reading()
        client.send(fetch(max_wait_ms=0), 12)
    assert full.shared.response_budget.spent
    assert full.shared.response_budget.count() <= 600_000
    assert sum(bool(client.session.connection.parked) for client in late) == 19
    for client in late:
        client.transport.read_on()
    full.run()
    assert [len(client.frames()) for client in late].count(1) >= 19


def test_fetches_that_are_answered_together_take_no_more_than_there_is(full: FakeKafka) -> None:
    late = [full.client() for _ in range(40)]
    for client in late:
        client.transport.stop_reading()
        request = fetch(max_wait_ms=1000)
        request.min_bytes = 2**31 - 1
        client.send(request, 12)
    full.scheduler.advance(999)
    most = 0
    for timer in full.scheduler.timers:
        timer.callback()
        timer.cancel()
        most = max(most, full.shared.response_budget.count())
    assert most < 1_000_000 + 101_000
