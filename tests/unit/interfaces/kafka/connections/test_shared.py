from __future__ import annotations

import pytest

from interfaces.kafka.connections.shared import ResponseFlusher
from tests.fakes.client import FakeKafka
from tests.fakes.clock import FakeClock
from tests.fakes.requests import produce
from tests.fakes.scheduler import FakeScheduler


class Sender:
    def __init__(self) -> None:
        self.flushed = 0

    def flush(self) -> None:
        self.flushed += 1


def test_each_sender_is_flushed_once_at_the_end_of_the_pass() -> None:
    scheduler = FakeScheduler(FakeClock())
    flusher, senders = ResponseFlusher(scheduler), [Sender(), Sender()]
    for sender in (*senders, *senders):
        flusher.add(sender)
    assert [sender.flushed for sender in senders] == [0, 0]
    scheduler.run()
    assert [sender.flushed for sender in senders] == [1, 1]


def test_who_asks_while_being_flushed_has_its_turn_in_the_next_pass() -> None:
    scheduler = FakeScheduler(FakeClock())
    flusher = ResponseFlusher(scheduler)

    class Again(Sender):
        def flush(self) -> None:
            super().flush()
            if self.flushed < 3:
                flusher.add(self)

    sender = Again()
    flusher.add(sender)
    scheduler.run_pass()
    assert sender.flushed == 1
    scheduler.run()
    assert sender.flushed == 3


def test_who_cannot_be_flushed_keeps_nobody_else_from_it() -> None:
    scheduler = FakeScheduler(FakeClock())
    flusher = ResponseFlusher(scheduler)

    class Broken(Sender):
        def flush(self) -> None:
            raise RuntimeError("nobody foresaw this")

    sender = Sender()
    flusher.add(Broken())
    flusher.add(sender)
    with pytest.raises(RuntimeError, match="nobody foresaw this"):
        scheduler.run()
    assert sender.flushed == 1


def test_the_answers_of_a_commit_leave_with_it_and_not_a_pass_later() -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    first, second = kafka.client(), kafka.client()
    first.send(produce(), 9)
    second.send(produce(), 9)
    assert not first.answers() and not second.answers()
    kafka.scheduler.run_pass()
    assert first.answers() and second.answers()
