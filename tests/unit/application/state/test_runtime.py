from __future__ import annotations

from collections.abc import Sequence

import pytest

from application.ports.pending import Pending
from application.state.runtime import Aggregates, Done, Runtime, respond
from domain.errors import BrokerError, StorageFailed
from tests.fakes.results import results_of


class Numbers(Aggregates[str, int]):
    """Aggregates that are numbers, over a store whose commits the test completes."""

    def __init__(self) -> None:
        self.runtime: Runtime[str, int] = Runtime(self)
        self.seen: list[object] = []
        self.staged: list[Done] = []

    def decided(self, key: str, changes: Sequence[int]) -> None:
        self.seen.append(("decided", key, *changes))

    def stage(self, key: str, changes: Sequence[int], done: Done) -> None:
        self.staged.append(done)

    def committed(self, key: str, changes: Sequence[int]) -> None:
        self.seen.append(("committed", key, *changes))

    def lost(self, key: str, changes: Sequence[int], first: bool) -> None:
        self.seen.append(("lost", key, *changes, first))

    def persist(self, key: str, change: int) -> list[StorageFailed | None]:
        outcomes: list[StorageFailed | None] = []
        self.runtime.persist(key, (change,), outcomes.append)
        return outcomes

    def commit(self, failure: StorageFailed | None = None) -> None:
        staged, self.staged = self.staged, []
        for done in staged:
            done(failure)


@pytest.fixture
def numbers() -> Numbers:
    return Numbers()


def test_a_decision_is_in_flight_until_its_commit(numbers: Numbers) -> None:
    outcomes = numbers.persist("a", 1)
    assert "a" in numbers.runtime and list(numbers.runtime.in_flight("a")) == [(1,)]
    assert (outcomes, numbers.seen) == ([], [("decided", "a", 1)])
    numbers.commit()
    assert "a" not in numbers.runtime and numbers.runtime.decisions == 0
    assert (outcomes, numbers.seen[1:]) == ([None], [("committed", "a", 1)])


def test_changes_that_are_lost_together_reload_once(numbers: Numbers) -> None:
    outcomes = [numbers.persist("a", 1), numbers.persist("a", 2), numbers.persist("b", 3)]
    numbers.seen.clear()
    numbers.commit(StorageFailed("full"))
    assert numbers.seen == [("lost", "a", 1, True), ("lost", "a", 2, False), ("lost", "b", 3, True)]
    assert all(isinstance(one[0], StorageFailed) for one in outcomes)


def test_a_decision_made_after_a_loss_reloads_again(numbers: Numbers) -> None:
    numbers.runtime.persist("a", (1,), lambda failure: numbers.persist("a", 3) and None)
    numbers.persist("a", 2)
    numbers.commit(StorageFailed("full"))
    numbers.seen.clear()
    numbers.commit(StorageFailed("full"))
    assert numbers.seen == [("lost", "a", 3, True)]


def test_a_fault_in_a_callback_does_not_affect_others(numbers: Numbers) -> None:
    def broken(failure: StorageFailed | None) -> None:
        raise ZeroDivisionError

    outcomes: list[StorageFailed | None] = []
    numbers.runtime.persist("a", (1,), broken)
    numbers.runtime.when_durable("a", outcomes.append)
    with pytest.raises(ZeroDivisionError):
        numbers.commit()
    assert outcomes == [None] and "a" not in numbers.runtime


def test_a_response_waits_for_all_decisions_it_depends_on(numbers: Numbers) -> None:
    numbers.persist("a", 1)
    numbers.persist("b", 2)
    keys = [(numbers.runtime, key) for key in ("a", "b", "c", "b")]
    results: list[str | BrokerError] = ["A", "B", "C", "B again"]
    pending = respond(keys, results)
    assert isinstance(pending, Pending)
    one, other = numbers.staged
    one(None)
    assert not pending.resolved
    other(StorageFailed("full"))
    [[first, second, third, fourth]] = results_of(pending)
    assert (first, third) == ("A", "C")
    assert isinstance(second, StorageFailed) and isinstance(fourth, StorageFailed)


def test_a_response_without_decisions_in_flight_does_not_wait(numbers: Numbers) -> None:
    assert respond([(numbers.runtime, "a")], ["A"]) == ["A"]


@pytest.mark.parametrize("failure", [None, StorageFailed("full")])
def test_a_dropped_decision_only_calls_back(
    numbers: Numbers, failure: StorageFailed | None
) -> None:
    outcomes = [numbers.persist("a", 1), numbers.persist("b", 2)]
    numbers.runtime.drop(lambda key: key == "a")
    assert "a" not in numbers.runtime and numbers.runtime.keys() == ["b"]
    again = numbers.persist("a", 3)
    numbers.seen.clear()
    numbers.staged.pop()
    numbers.commit(failure)
    assert outcomes == [[failure], [failure]] and again == []
    assert [one[:3] for one in numbers.seen if isinstance(one, tuple)] == [
        ("committed" if failure is None else "lost", "b", 2)
    ]
    assert list(numbers.runtime.in_flight("a")) == [(3,)]
