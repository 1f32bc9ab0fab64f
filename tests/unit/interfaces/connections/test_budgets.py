from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from domain.configs.broker import BrokerConfig
from interfaces.connections.budgets import (
    NO_BOUND,
    ByteBudget,
    ConnectionBudget,
    ResponseBudget,
)
from tests.fakes.clock import FakeClock
from tests.fakes.limits import limited
from tests.fakes.scheduler import FakeScheduler

# ---- ByteBudget


class Queue:
    """Requests bytes by name, and has the names that were admitted."""

    def __init__(self, limit_bytes: int) -> None:
        self.budget = ByteBudget(limit_bytes)
        self.admitted: list[str] = []

    def take(self, name: str, count: int) -> None:
        self.budget.take(count, lambda: self.admitted.append(name))


@pytest.mark.parametrize(
    ("counts", "admitted", "freed"),
    [
        ((60, 40, 1), "ab", 40),  # until all bytes are used
        ((1000, 1), "a", 1000),  # the first, of any size
        ((90, 50, 5), "a", 90),  # in the order of the queue
    ],
)
def test_bytes_are_granted_in_order_while_there_are_some(
    counts: tuple[int, ...], admitted: str, freed: int
) -> None:
    queue = Queue(100)
    for name, count in zip("abc", counts, strict=False):
        queue.take(name, count)
    assert queue.admitted == [*admitted]
    assert len(queue.budget) == len(counts) - len(admitted)
    queue.budget.give(freed)
    assert queue.admitted == [*"abc"[: len(counts)]]
    assert (queue.budget.used_bytes, len(queue.budget)) == (sum(counts) - freed, 0)


@pytest.mark.parametrize("limit", [-1, -5])
def test_a_negative_limit_is_no_limit(limit: int) -> None:
    queue = Queue(limit)
    for name in "abc":
        queue.take(name, 1 << 40)
    assert queue.admitted == ["a", "b", "c"]


class Waiting:
    """Counts how often one is compared with another."""

    compared = 0

    def __call__(self) -> None:
        raise AssertionError("it has left the queue")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        Waiting.compared += 1
        return self is other


def test_leaving_the_queue_costs_the_same_at_any_length() -> None:
    queue = Queue(10)
    queue.take("a", 10)
    waiting = [Waiting() for _ in range(1000)]
    for one in waiting:
        queue.budget.take(5, one)
    queue.take("b", 5)
    Waiting.compared = 0
    for one in waiting:
        queue.budget.forget(one)
    assert Waiting.compared <= 2 * len(waiting)
    assert (len(queue.budget), queue.budget.used_bytes) == (1, 10)
    queue.budget.give(10)
    assert (queue.admitted, queue.budget.used_bytes) == (["a", "b"], 5)


# ---- ResponseBudget


class Unread:
    def __init__(self, unread_bytes: int) -> None:
        self.unread_bytes = unread_bytes


class Holders(list[Unread]):
    """Counts how often the connections are counted."""

    counted = 0

    def __iter__(self) -> Iterator[Unread]:
        self.counted += 1
        return super().__iter__()


@pytest.fixture
def scheduler() -> FakeScheduler:
    return FakeScheduler(FakeClock())


def test_above_the_limit_the_unread_bytes_of_all_connections_are_counted(
    scheduler: FakeScheduler,
) -> None:
    holders = [Unread(200), Unread(0)]
    budget = ResponseBudget(1000, holders, scheduler)
    assert budget.room() == 1000
    budget.used_bytes += 300
    assert budget.room() == 700
    budget.used_bytes += 600
    assert (budget.room(), budget.used_bytes) == (800, 200)
    assert not budget.is_scarce
    holders[1].unread_bytes = 900
    budget.used_bytes += 900
    assert (budget.room(), budget.is_scarce, budget.excess()) == (0, True, 0)
    holders[1].unread_bytes = 2000
    assert budget.excess() == 1200, "down to the limit"
    assert budget.room() == -1


def test_freed_bytes_are_room_in_the_next_pass(scheduler: FakeScheduler) -> None:
    """However few were sent since the last count."""
    holders = [Unread(2500)]
    budget = ResponseBudget(1000, holders, scheduler)
    budget.used_bytes = 2500
    assert (budget.excess(), budget.room()) == (1500, -1)
    holders.clear()
    scheduler.run_pass()
    assert budget.room() == 1000


def test_without_room_connections_are_counted_once_a_pass(scheduler: FakeScheduler) -> None:
    """There may be thousands, and each can request room."""
    holders = Holders([Unread(64_000)])
    budget = ResponseBudget(64_000, holders, scheduler)
    budget.used_bytes = 64_000
    for number in range(1, 4):
        assert [budget.room() for _ in range(100)] == [0] * 100
        assert holders.counted == number
        scheduler.run()


def test_without_room_connections_are_counted_again_after_many_responses(
    scheduler: FakeScheduler,
) -> None:
    holders = Holders([Unread(70_000)])
    budget = ResponseBudget(64_000, holders, scheduler)
    budget.used_bytes = 70_000
    for _ in range(100):
        budget.room()
        budget.used_bytes += 101
    assert holders.counted == 10
    holders.clear()
    budget.used_bytes += 1001
    assert budget.room() == 64_000


def test_a_negative_limit_of_responses_is_no_limit(scheduler: FakeScheduler) -> None:
    budget = ResponseBudget(-1, [Unread(1 << 40)], scheduler)
    budget.used_bytes = 1 << 40
    assert (budget.room(), budget.is_scarce, budget.excess()) == (NO_BOUND, False, 0)


# ---- ConnectionBudget


def test_connections_are_limited_in_all_and_by_address() -> None:
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
    assert (budget.refusal("a"), budget.count) == (None, 2)
    for address in ("a", "b"):
        budget.remove(address)
    assert (budget.count, budget._by_address) == (0, {})


@pytest.mark.parametrize(("limit", "first_refused"), [(1024, 992), (40, 30)])
def test_connections_leave_some_files_to_the_rest_of_the_broker(
    limit: int, first_refused: int
) -> None:
    budget = ConnectionBudget(BrokerConfig())
    with limited(resource.RLIMIT_NOFILE, limit):
        assert budget.refusal("a", first_refused - 1) is None
        assert "limit of open files is" in str(budget.refusal("a", first_refused))
