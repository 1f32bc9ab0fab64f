from __future__ import annotations

import pytest

from application.long_work import LongAnswer, LongWork, Slices
from application.pending import Pending
from tests.fakes.clock import FakeClock
from tests.fakes.scheduler import FakeScheduler


class World:
    def __init__(self) -> None:
        self.scheduler = FakeScheduler(FakeClock())
        self.work = LongWork(self.scheduler)
        self.done: list[str] = []

    def begin(self, name: str, slices: int, **how: bool) -> LongAnswer[str]:
        def work() -> Slices[str]:
            for number in range(slices):
                if number:
                    yield
                self.done.append(f"{name}{number}")
            return name

        return self.work.begin(work(), **how)


@pytest.fixture
def world() -> World:
    return World()


def test_what_is_soon_done_is_answered_at_once(world: World) -> None:
    answers: list[str] = []
    world.begin("a", 1).then(answers.append)
    assert answers == ["a"] and not len(world.work)


def test_each_pass_has_a_slice_of_one_of_them(world: World) -> None:
    answers: list[str] = []
    for name in "abc":
        world.begin(name, 3).then(answers.append)
    began = len(world.done)
    passes = []
    while len(world.work):
        world.scheduler.run_pass()
        passes.append(world.done[began:])
        began = len(world.done)
    assert passes == [["a1"], ["b1"], ["c1"], ["a2"], ["b2"], ["c2"]]
    assert answers == ["a", "b", "c"]


def test_the_answer_may_come_later_still(world: World) -> None:
    later: Pending[str] = Pending()

    def work() -> Slices[str]:
        yield
        return later

    answer = world.work.begin(work())
    world.scheduler.run()
    assert not answer.resolved
    later.resolve("durable")
    assert answer.resolved


def test_a_fault_is_its_own_and_the_others_go_on(world: World) -> None:
    def work() -> Slices[str]:
        yield
        raise ZeroDivisionError

    ill = world.work.begin(work())
    answers: list[str] = []
    world.begin("a", 2).then(answers.append)
    world.scheduler.run()
    assert isinstance(ill.fault, ZeroDivisionError)
    assert answers == ["a"]


def test_a_caller_that_fails_keeps_nobody_waiting(world: World) -> None:
    def fails(answer: str) -> None:
        raise ZeroDivisionError

    world.begin("a", 2).then(fails)
    answers: list[str] = []
    world.begin("b", 2).then(answers.append)
    with pytest.raises(ZeroDivisionError):
        world.scheduler.run()
    world.scheduler.run()
    assert answers == ["b"]


def test_who_has_gone_ends_what_only_answers(world: World) -> None:
    world.begin("a", 2, ends_when_abandoned=True).abandon()
    world.begin("b", 2).abandon()
    world.scheduler.run()
    assert world.done == ["a0", "b0", "b1"]
