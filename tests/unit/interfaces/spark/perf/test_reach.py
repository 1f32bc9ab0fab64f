"""When a broker is given up: it was silent and out of reach for as long as the patience lasts."""

from __future__ import annotations

import pytest

from interfaces.spark.jobs.perf.consuming import Consumed
from interfaces.spark.jobs.perf.plan import Plan
from interfaces.spark.jobs.perf.producing import Produced
from interfaces.spark.jobs.perf.reach import Reach
from interfaces.spark.jobs.perf.running import refuse_the_broken
from interfaces.spark.jobs.perf.tally import Tally
from interfaces.spark.query.failures import JobFailed

WHY = "no broker at b:9092: connection refused"


class Broker:
    """On a clock of its own: whether it takes connections, and how often it was asked."""

    def __init__(self, patience_s: float) -> None:
        self.is_there, self.asked, self.now = True, 0, 0.0
        self.reach = Reach("b:9092", patience_s, 0.0, self._look)

    def _look(self, _servers: str) -> None:
        self.asked += 1
        if not self.is_there:
            raise JobFailed(WHY)

    def silent_for(self, seconds: float) -> bool:
        """Whether it is given up by then; it is looked for in a loop that goes round often."""
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            if self.reach.is_lost(self.now):
                return True
        return False


def test_one_that_is_gone_is_given_up_when_patience_ends() -> None:
    broker = Broker(30)
    broker.is_there = False
    assert broker.silent_for(60)
    assert broker.now == pytest.approx(30, abs=1)
    assert broker.reach.lost == WHY
    assert broker.reach.is_lost(broker.now)


def test_one_that_starts_again_in_time_is_not() -> None:
    broker = Broker(30)
    for _ in range(3):
        broker.is_there = False
        assert not broker.silent_for(29)
        broker.is_there = True
        assert not broker.silent_for(2)  # it takes connections, and nothing came yet
    broker.reach.heard(broker.now)
    broker.is_there = False
    assert not broker.silent_for(29)
    assert broker.silent_for(2)


def test_one_that_takes_connections_is_waited_for_however_long_it_is_silent() -> None:
    assert not Broker(1).silent_for(600)


def test_it_is_not_looked_for_while_it_is_heard_of() -> None:
    broker = Broker(30)
    for _ in range(1_000):
        broker.reach.heard(broker.now)
        assert not broker.silent_for(0.9)
    assert broker.asked == 0


def test_a_run_whose_broker_was_given_up_is_one_line() -> None:
    plan = Plan(0, {}, {}, (), patience_s=5, servers="127.0.0.1:1")
    lost = Produced(0, Tally(1), 10, [], False, "", 1.0, WHY)
    whole = Produced(1, Tally(1), 10, [], True, "", 1.0)
    reader = Consumed("t/0", Tally(1), {}, unended=["t-0"], lost=WHY)
    for produced, word in (([whole, lost], "acknowledged"), ([whole], "read")):
        with pytest.raises(JobFailed) as failure:
            refuse_the_broken(plan, produced, [reader])
        assert str(failure.value) == f"nothing was {word} for 5 s: {WHY}"
    refuse_the_broken(plan, [whole], [Consumed("t/0", Tally(1), {})])
