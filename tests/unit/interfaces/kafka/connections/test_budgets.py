from __future__ import annotations

from collections.abc import Iterator

import pytest

from domain.configs.broker import BrokerConfig
from interfaces.kafka.connections.budgets import (
    NO_BOUND,
    ByteBudget,
    ConnectionBudget,
    ResponseBudget,
)
from tests.fakes.clock import FakeClock
from tests.fakes.scheduler import FakeScheduler


class Line:
    """Asks for bytes by name, and remembers who was let in."""

    def __init__(self, limit_bytes: int) -> None:
        self.budget = ByteBudget(limit_bytes)
        self.admitted: list[str] = []

    def take(self, name: str, count: int) -> None:
        self.budget.take(count, lambda: self.admitted.append(name))


def test_bytes_are_given_as_long_as_there_are_any() -> None:
    line = Line(100)
    line.take("a", 60)
    line.take("b", 40)
    line.take("c", 1)
    assert line.admitted == ["a", "b"]
    assert (line.budget.used_bytes, len(line.budget)) == (100, 1)
    line.budget.give(40)
    assert line.admitted == ["a", "b", "c"]
    assert (line.budget.used_bytes, len(line.budget)) == (61, 0)


def test_one_is_always_let_in_however_large() -> None:
    line = Line(100)
    line.take("a", 1000)
    line.take("b", 1)
    assert line.admitted == ["a"]
    line.budget.give(1000)
    assert line.admitted == ["a", "b"]


def test_nobody_jumps_the_queue() -> None:
    line = Line(100)
    line.take("a", 90)
    line.take("b", 50)
    line.take("c", 5)
    assert line.admitted == ["a"]
    line.budget.give(90)
    assert line.admitted == ["a", "b", "c"]


def test_who_has_gone_is_not_let_in() -> None:
    budget = ByteBudget(10)
    admitted: list[int] = []
    budget.take(10, lambda: None)

    def first() -> None:
        admitted.append(1)

    budget.take(5, first)
    budget.take(5, lambda: admitted.append(2))
    budget.forget(first)
    budget.give(10)
    assert (admitted, budget.used_bytes) == ([2], 5)


class Waiting:
    """Who waits in line, and how often anybody was compared with somebody else."""

    compared = 0

    def __call__(self) -> None:
        raise AssertionError("nobody is let in")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        Waiting.compared += 1
        return self is other


def test_all_who_wait_may_go_at_once_and_each_costs_the_same() -> None:
    budget = ByteBudget(10)
    budget.take(10, lambda: None)
    waiting = [Waiting() for _ in range(1000)]
    for one in waiting:
        budget.take(5, one)
    Waiting.compared = 0
    for one in waiting:
        budget.forget(one)
    assert (len(budget), budget.used_bytes) == (0, 10)
    assert Waiting.compared <= 2 * len(waiting)


@pytest.mark.parametrize("limit", [-1, -5])
def test_a_negative_limit_is_none(limit: int) -> None:
    line = Line(limit)
    for name in "abc":
        line.take(name, 1 << 40)
    assert line.admitted == ["a", "b", "c"]


class Unread:
    def __init__(self, unread_bytes: int) -> None:
        self.unread_bytes = unread_bytes


class Holders(list[Unread]):
    """And how often they were asked."""

    asked = 0

    def __iter__(self) -> Iterator[Unread]:
        self.asked += 1
        return super().__iter__()


@pytest.fixture
def scheduler() -> FakeScheduler:
    return FakeScheduler(FakeClock())


def test_the_room_for_answers_is_what_is_left_of_it(scheduler: FakeScheduler) -> None:
    budget = ResponseBudget(1000, [], scheduler)
    assert budget.room() == 1000
    budget.used_bytes += 300
    assert budget.room() == 700


def test_once_much_was_answered_the_connections_are_asked_what_is_really_unread(
    scheduler: FakeScheduler,
) -> None:
    holders = [Unread(200), Unread(0)]
    budget = ResponseBudget(1000, holders, scheduler)
    budget.used_bytes = 900
    assert (budget.room(), budget.used_bytes) == (800, 200)
    assert not budget.is_scarce
    holders[1].unread_bytes = 900
    budget.used_bytes += 900
    assert (budget.room(), budget.is_scarce, budget.excess()) == (0, True, 0)
    holders[1].unread_bytes = 2000
    assert budget.excess() == 1200, "down to the limit"
    assert budget.room() == -1


def test_when_all_was_spent_and_is_given_back_there_is_room_in_the_next_pass(
    scheduler: FakeScheduler,
) -> None:
    """However little was answered since it was counted: nothing may be refused by an old count."""
    holders = [Unread(2500)]
    budget = ResponseBudget(1000, holders, scheduler)
    budget.used_bytes = 2500
    assert (budget.excess(), budget.room()) == (1500, -1)
    holders.clear()
    scheduler.run_pass()
    assert budget.room() == 1000


def test_while_all_is_used_the_connections_are_asked_once_a_pass(
    scheduler: FakeScheduler,
) -> None:
    """There may be thousands of them, and each of them may ask for room."""
    holders = Holders([Unread(64_000)])
    budget = ResponseBudget(64_000, holders, scheduler)
    budget.used_bytes = 64_000
    for number in range(1, 4):
        assert [budget.room() for _ in range(100)] == [0] * 100
        assert holders.asked == number
        scheduler.run()


def test_while_all_is_used_the_connections_are_asked_again_when_much_was_answered(
    scheduler: FakeScheduler,
) -> None:
    holders = Holders([Unread(70_000)])
    budget = ResponseBudget(64_000, holders, scheduler)
    budget.used_bytes = 70_000
    for _ in range(100):
        budget.room()
        budget.used_bytes += 101
    assert holders.asked == 10
    holders.clear()
    budget.used_bytes += 1001
    assert budget.room() == 64_000


def test_a_negative_limit_of_answers_is_none(scheduler: FakeScheduler) -> None:
    budget = ResponseBudget(-1, [Unread(1 << 40)], scheduler)
    budget.used_bytes = 1 << 40
    assert (budget.room(), budget.is_scarce, budget.excess()) == (NO_BOUND, False, 0)


def test_connections_are_limited_together_and_by_address() -> None:
    config = BrokerConfig({"max.connections": "3", "max.connections.per.ip": "2"})
    budget = ConnectionBudget(config)
    assert budget.refusal("a") is None
    budget.add("a")
    budget.add("a")
    assert "max.connections.per.ip (2)" in str(budget.refusal("a"))
    assert budget.refusal("b") is None
    budget.add("b")
    assert "max.connections (3)" in str(budget.refusal("c"))
    budget.remove("a")
    assert budget.refusal("a") is None
    assert budget.count == 2


def test_addresses_that_have_gone_are_forgotten() -> None:
    budget = ConnectionBudget(BrokerConfig())
    for address in ("a", "b", "a"):
        budget.add(address)
    for address in ("a", "b", "a"):
        budget.remove(address)
    assert (budget.count, budget._by_address) == (0, {})
