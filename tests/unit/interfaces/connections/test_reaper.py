"""Connections that make no progress are closed; the clock is moved by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interfaces.connections.framing import READ_BUFFER_BYTES
from interfaces.connections.reaper import SLOWEST_BYTES_A_SECOND, STALLED_MS
from interfaces.kafka.wire.messages.fetch import FetchRequest
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka, frame
from tests.fakes.requests import fetch, metadata, produce

MINUTE_MS = 60_000
LARGE = frame(produce("x" * 2 * READ_BUFFER_BYTES), 9)
#: Longer than the time between two checks.
CHECK_MS = STALLED_MS // 3
#: The time that a large request has while others wait for its memory.
ENOUGH_MS = STALLED_MS + len(LARGE) * 1000 // SLOWEST_BYTES_A_SECOND + 2 * CHECK_MS


def watched(idle_ms: int = 100_000_000, batches: int = 0, **settings: str) -> FakeKafka:
    """With topic `t`, which has batches of 100 kB."""
    kafka = FakeKafka(connections_max_idle_ms=str(idle_ms), **settings)
    kafka.shared.watch_idle()
    kafka.topic("t")
    for _ in range(batches):
        kafka.appended(record_batch(["x" * 100_000]))
    return kafka


def never_reading(kafka: FakeKafka) -> FakeClient:
    """A client that has requested all records of the topic."""
    client = kafka.client()
    client.transport.stop_reading()
    client.send(fetch(max_wait_ms=0), 12)
    kafka.run()
    return client


def read_some(client: FakeClient) -> None:
    largest = max(client.transport._unsent, key=len)
    client.transport._unsent = [largest[100:]]


# ---- idle and stalled connections


def nothing(client: FakeClient) -> None:
    pass


def request_now(client: FakeClient) -> None:
    client.request(metadata(), 12)


@pytest.mark.parametrize(
    ("idle_ms", "act", "open_ms"),
    [
        (MINUTE_MS, nothing, MINUTE_MS),
        (MINUTE_MS, request_now, None),
        (-1, nothing, None),
    ],
)
def test_a_connection_without_requests_is_closed_after_the_idle_time(
    idle_ms: int, act: Callable[[FakeClient], None], open_ms: int | None
) -> None:
    """With a negative one never. It is no line of the log."""
    kafka = watched(idle_ms)
    client = kafka.client()
    for passed_ms in range(0, 10 * MINUTE_MS, MINUTE_MS // 2):
        assert client.closed == (open_ms is not None and passed_ms > open_ms)
        if not client.closed:
            act(client)
        kafka.scheduler.advance(MINUTE_MS // 2)
    assert len(kafka.shared.sessions) == (0 if open_ms else 1)
    assert kafka.events.of("connection_closed") == []


def test_a_connection_with_a_waiting_fetch_is_not_idle() -> None:
    kafka = watched(MINUTE_MS)
    client = kafka.client()
    client.send(fetch(10 * MINUTE_MS), 12)
    kafka.scheduler.advance(9 * MINUTE_MS)
    assert not client.closed
    kafka.scheduler.advance(MINUTE_MS)
    assert len(client.responses()) == 1


@pytest.mark.parametrize("idle_ms", [MINUTE_MS, -1])
def test_a_connection_with_an_incomplete_request_is_closed(idle_ms: int) -> None:
    kafka = watched(idle_ms)
    stalled, silent = kafka.client(), kafka.client()
    stalled.transport.receive(frame(metadata(), 12)[:9])
    kafka.scheduler.advance(STALLED_MS + MINUTE_MS // 4)
    assert (stalled.closed, silent.closed) == (True, False)
    assert stalled.why_closed() == "incomplete_request"


@pytest.mark.parametrize("end", ["idle", "malformed", "closed behind a fetch"])
def test_a_connection_with_unread_responses_cannot_stay_open(end: str) -> None:
    """A transport closes only when all bytes are sent, or when it is aborted."""
    kafka = watched(MINUTE_MS)
    client = kafka.client()
    client.transport.stop_reading()
    client.send(metadata(), 12)
    if end == "malformed":
        client.transport.receive(b"\xff" * 20)
    if end == "closed behind a fetch":
        client.send(fetch(100 * MINUTE_MS), 12)
        client.session.close("internal_error")
    kafka.scheduler.advance(5 * MINUTE_MS)
    assert client.transport.aborted
    assert kafka.shared.sessions == {}


@pytest.mark.parametrize("closed", [False, True])
def test_a_client_that_reads_a_large_response_slowly_is_not_idle(closed: bool) -> None:
    """A closed connection stays until the client has read it, too."""
    kafka = watched(MINUTE_MS, batches=1)
    slow = never_reading(kafka)
    if closed:
        slow.session.close("internal_error")
    for _ in range(30):
        read_some(slow)
        kafka.scheduler.advance(CHECK_MS)
    assert (slow.closed, slow.transport.aborted) == (closed, False)
    kafka.scheduler.advance(2 * (STALLED_MS if closed else MINUTE_MS))
    assert slow.transport.aborted


# ---- large requests while others wait for memory


@pytest.fixture
def narrow() -> FakeKafka:
    """There is memory for one large request."""
    return watched(queued_max_request_bytes=str(READ_BUFFER_BYTES))


def trickle(kafka: FakeKafka, client: FakeClient, for_ms: int) -> None:
    """A byte for each check, so that the request is never stalled."""
    for passed in range(0, for_ms, CHECK_MS):
        client.transport.send(LARGE[passed // CHECK_MS :][:1])
        kafka.scheduler.advance(CHECK_MS)


def test_a_slow_large_request_is_closed_when_others_wait(narrow: FakeKafka) -> None:
    slow, other = narrow.client(), narrow.client()
    slow.transport.send(LARGE[:1000])
    trickle(narrow, slow, 10 * ENOUGH_MS)
    assert not slow.closed, "no other client waits"
    other.transport.send(LARGE)
    trickle(narrow, slow, ENOUGH_MS)
    assert slow.transport.aborted
    assert slow.why_closed() == "slow_request"
    assert len(other.frames()) == 1
    assert narrow.shared.memory.used_bytes == 0


def test_many_large_requests_in_a_row_are_not_one_slow_request(narrow: FakeKafka) -> None:
    """Each check finds a large request in progress, and each time it is another one."""
    busy, other, third = narrow.client(), narrow.client(), narrow.client()
    busy.transport.send(LARGE[:1000])
    for _ in range(3 * ENOUGH_MS // CHECK_MS):
        for waiting in (other, third):
            waiting.transport.send(LARGE[:1000])
        narrow.scheduler.advance(CHECK_MS)
        for client in (busy, other, third):
            client.transport.send(LARGE[1000:])
            narrow.run()
        busy.transport.send(LARGE[:1000])
    assert not busy.closed and not other.closed and not third.closed


def test_the_time_of_a_large_request_starts_when_it_has_its_memory(narrow: FakeKafka) -> None:
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
    assert waiting.session.connection.large_bytes, "it has its memory and its first bytes"
    narrow.scheduler.advance(every_ms)
    waiting.transport.send(LARGE[1000:])
    narrow.run()
    assert len(waiting.frames()) == 1, waiting.why_closed()


def test_a_request_that_waits_for_the_store_is_not_slow(
    narrow: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection is closed like that of a client that has given up."""
    monkeypatch.setattr("application.partitions.produce.MOST_STAGED_BYTES", 1)
    narrow.commit.hold()
    for _ in ("under way", "staged"):
        narrow.client().transport.send(frame(produce(), 9))
        narrow.run()
    parked, other = narrow.client(), narrow.client()
    parked.transport.send(LARGE + frame(metadata(), 12)[:9])
    narrow.run()
    other.transport.send(LARGE)
    narrow.scheduler.advance(CHECK_MS)
    assert parked.session.loads and len(narrow.shared.memory) == 1
    narrow.scheduler.advance(STALLED_MS)
    assert parked.closed and narrow.events.of("connection_closed") == []
    narrow.commit.let_go()
    narrow.run()
    assert (len(parked.frames()), len(other.frames())) == (0, 1)


def test_a_large_request_parked_behind_a_long_fetch_is_closed_when_others_wait(
    narrow: FakeKafka,
) -> None:
    patient, other = narrow.client(), narrow.client()
    patient.send(fetch(max_wait_ms=2**31 - 1), 12)
    patient.transport.send(LARGE)
    other.transport.send(LARGE)
    narrow.scheduler.advance(ENOUGH_MS)
    assert patient.transport.aborted
    assert len(other.frames()) == 1


# ---- unread responses


@pytest.fixture
def full() -> FakeKafka:
    """Ten batches of 100 kB to fetch, and half a megabyte for all unread responses."""
    return watched(batches=10, queued_max_response_bytes="500000")


def late_fetch(offset: int = 0) -> FetchRequest:
    """Its response is sent after a second."""
    request = fetch(max_wait_ms=1000, offset=offset)
    request.min_bytes = 2**31 - 1
    return request


def test_while_much_is_unread_a_fetch_gets_one_batch(full: FakeKafka) -> None:
    """Also if it was sent before, and waits."""
    late = full.client()
    late.transport.stop_reading()
    late.send(late_fetch(offset=6), 12)
    sizes = [never_reading(full).session.unread_bytes // 100_000 for _ in range(4)]
    assert sizes == [4, 1, 1, 1]
    assert full.shared.response_budget.count() < 500_000 + 4 * 101_000
    full.scheduler.advance(1000)
    assert late.session.unread_bytes // 100_000 == 1


def test_while_much_is_unread_a_client_that_stops_reading_is_disconnected(
    full: FakeKafka,
) -> None:
    slow = never_reading(full)
    for _ in range(20):
        read_some(slow)
        full.scheduler.advance(CHECK_MS)
        never_reading(full).transport.drop()
    assert not slow.closed, "it reads"
    full.scheduler.advance(STALLED_MS + 2 * CHECK_MS)
    assert slow.transport.aborted
    assert slow.why_closed() == "slow_reader"
    assert full.shared.response_budget.count() == 0


def test_while_little_is_unread_no_client_is_disconnected() -> None:
    kafka = watched(batches=1)
    client = never_reading(kafka)
    kafka.scheduler.advance(20 * STALLED_MS)
    assert not client.closed


def test_above_twice_the_limit_the_largest_unread_responses_are_disconnected(
    full: FakeKafka,
) -> None:
    """Down to the limit."""
    clients = [never_reading(full) for _ in range(8)]
    closed = [number for number, client in enumerate(clients) if client.transport.aborted]
    assert closed == [0, 1, 2]
    assert full.shared.response_budget.count() <= 600_000
    assert clients[0].why_closed() == "slow_reader"


def test_requests_wait_until_the_memory_of_disconnected_clients_is_free(full: FakeKafka) -> None:
    """It is free in the next pass."""
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


def test_fetches_that_end_together_share_the_limit(full: FakeKafka) -> None:
    for _ in range(40):
        client = full.client()
        client.transport.stop_reading()
        client.send(late_fetch(), 12)
    full.scheduler.advance(999)
    most = 0
    for timer in full.scheduler.timers:
        timer.callback()
        timer.cancel()
        most = max(most, full.shared.response_budget.count())
    assert most < 1_000_000 + 101_000
