from __future__ import annotations

from tests.fakes.in_process import InProcessBroker
from tests.fakes.requests import create_topic, produce


def test_the_answers_of_a_commit_leave_with_it_and_not_a_pass_later() -> None:
    broker = InProcessBroker()
    first, second = broker.connect(), broker.connect()
    create_topic(broker, first, "t")
    request = produce("t")
    first.receive(request)
    second.receive(request)
    assert not first.take() and not second.take()
    broker.scheduler.run_round()
    assert first.take() and second.take()
