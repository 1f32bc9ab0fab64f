from __future__ import annotations

import pytest

from interfaces.kafka.connections.shared import Outbox
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
    outbox, senders = Outbox(scheduler), [Sender(), Sender()]
    for sender in (*senders, *senders):
        outbox.add(sender)
    assert [sender.flushed for sender in senders] == [0, 0]
    scheduler.run()
    assert [sender.flushed for sender in senders] == [1, 1]


def test_who_asks_while_being_flushed_has_its_turn_in_the_next_pass() -> None:
    scheduler = FakeScheduler(FakeClock())
    outbox = Outbox(scheduler)

    class Again(Sender):
        def flush(self) -> None:
            super().flush()
            if self.flushed < 3:
                outbox.add(self)

    sender = Again()
    outbox.add(sender)
    scheduler.run_pass()
    assert sender.flushed == 1
    scheduler.run()
    assert sender.flushed == 3


def test_who_cannot_be_flushed_keeps_nobody_else_from_it() -> None:
    scheduler = FakeScheduler(FakeClock())
    outbox = Outbox(scheduler)

    class Broken(Sender):
        def flush(self) -> None:
            raise RuntimeError("nobody foresaw this")

    sender = Sender()
    outbox.add(Broken())
    outbox.add(sender)
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
