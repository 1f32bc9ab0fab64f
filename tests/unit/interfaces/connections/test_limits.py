from __future__ import annotations

import pytest

from interfaces.connections.limits import ResponseFlusher
from tests.fakes.client import FakeKafka
from tests.fakes.clock import FakeClock
from tests.fakes.requests import produce
from tests.fakes.scheduler import FakeScheduler


class Sender:
    """Asks for `again` more flushes while it is flushed, or fails."""

    def __init__(self, flusher: ResponseFlusher, again: int = 0, fails: bool = False) -> None:
        self.flusher, self.again, self.fails = flusher, again, fails
        self.flushed = 0
        flusher.add(self)

    def flush(self) -> None:
        if self.fails:
            raise RuntimeError("a fault")
        self.flushed += 1
        if self.flushed <= self.again:
            self.flusher.add(self)


@pytest.fixture
def scheduler() -> FakeScheduler:
    return FakeScheduler(FakeClock())


def test_each_sender_is_flushed_once_at_the_end_of_a_pass(scheduler: FakeScheduler) -> None:
    """If it is added again meanwhile, it is flushed again in the next pass."""
    flusher = ResponseFlusher(scheduler)
    senders = [Sender(flusher), Sender(flusher, again=2)]
    for sender in senders:
        flusher.add(sender)
    assert [sender.flushed for sender in senders] == [0, 0]
    scheduler.run_pass()
    assert [sender.flushed for sender in senders] == [1, 1]
    scheduler.run()
    assert [sender.flushed for sender in senders] == [1, 3]


def test_a_sender_that_fails_does_not_keep_others_from_being_flushed(
    scheduler: FakeScheduler,
) -> None:
    flusher = ResponseFlusher(scheduler)
    Sender(flusher, fails=True)
    sender = Sender(flusher)
    with pytest.raises(RuntimeError, match="a fault"):
        scheduler.run()
    assert sender.flushed == 1


def test_responses_are_sent_in_the_pass_of_their_commit() -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    first, second = kafka.client(), kafka.client()
    first.send(produce(), 9)
    second.send(produce(), 9)
    assert not first.responses() and not second.responses()
    kafka.scheduler.run_pass()
    assert first.responses() and second.responses()
