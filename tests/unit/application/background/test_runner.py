from __future__ import annotations

from collections.abc import Callable

import pytest

from application.background.job import COMMIT, SLICE, Job, Outcome
from application.background.runner import (
    LONGEST_RETRY_MS,
    PAUSE_MS,
    RETRY_MS,
    SLICE_NS,
    STEPS_PER_SLICE,
    JobResult,
    Runner,
)
from application.ports.pending import Pending
from domain.errors import StorageFailed
from tests.fakes.broker import FakeBroker


class World:
    def __init__(self) -> None:
        self.broker = FakeBroker()
        self.scheduler = self.broker.scheduler
        self.clock = self.broker.clock
        self.clock.look_ns = SLICE_NS  # each step takes so long
        self.runner = Runner(self.scheduler, self.clock, self.broker.broker.commits)
        self.done: list[str] = []

    def job(self, name: str, steps: int) -> Job[str]:
        for number in range(steps):
            if number:
                yield SLICE
            self.done.append(f"{name}{number}")
        return name

    def maintenance(self, name: str, steps: int = 3) -> Callable[[], Job[None]]:
        def make() -> Job[None]:
            yield from self.job(name, steps)

        return make

    def committing(self, outcomes: list[Outcome]) -> Callable[[], Job[None]]:
        def make() -> Job[None]:
            while len(outcomes) < 4:
                yield SLICE
                outcomes.append((yield COMMIT))

        return make

    def run(self, name: str, steps: int, ends_when_abandoned: bool = False) -> JobResult[str]:
        return self.runner.run(self.job(name, steps), ends_when_abandoned=ends_when_abandoned)


@pytest.fixture
def world() -> World:
    return World()


def test_what_is_soon_done_is_answered_at_once(world: World) -> None:
    answers: list[str] = []
    world.run("a", 1).then(answers.append)
    assert answers == ["a"] and not len(world.runner)


def test_each_pass_has_a_slice_of_one_of_them(world: World) -> None:
    answers: list[str] = []
    for name in "abc":
        world.run(name, 3).then(answers.append)
    began = len(world.done)
    passes = []
    while len(world.runner):
        world.scheduler.run_pass()
        passes.append(world.done[began:])
        began = len(world.done)
    assert passes == [["a1"], ["b1"], ["c1"], ["a2"], ["b2"], ["c2"]]
    assert answers == ["a", "b", "c"]


def test_a_slice_has_as_many_steps_as_there_is_time(world: World) -> None:
    world.clock.look_ns = SLICE_NS // 4
    world.run("a", 10)
    assert len(world.done) == 4


def test_where_the_clock_stands_still_a_slice_ends_too(world: World) -> None:
    world.clock.look_ns = 0
    world.run("a", STEPS_PER_SLICE + 1)
    assert len(world.done) == STEPS_PER_SLICE


def test_an_answer_goes_on_at_the_end_of_its_commit(world: World) -> None:
    def job() -> Job[Outcome]:
        return (yield COMMIT)

    world.broker.commit.hold()
    answer = world.runner.run(job())
    world.scheduler.run()
    assert not answer.resolved
    world.broker.commit.let_go()
    assert answer.resolved


def test_a_job_may_wait_for_something_else(world: World) -> None:
    later: Pending[Outcome] = Pending()

    def job() -> Job[Outcome]:
        return (yield later)

    answer = world.runner.run(job())
    world.scheduler.run()
    assert not answer.resolved
    later.resolve(None)
    assert answer.resolved


def test_a_fault_is_its_own_and_the_others_go_on(world: World) -> None:
    def job() -> Job[str]:
        yield SLICE
        raise ZeroDivisionError

    ill = world.runner.run(job())
    answers: list[str] = []
    world.run("a", 2).then(answers.append)
    world.scheduler.run()
    assert isinstance(ill.fault, ZeroDivisionError)
    assert answers == ["a"]


def test_a_caller_that_fails_keeps_nobody_waiting(world: World) -> None:
    def fails(answer: str) -> None:
        raise ZeroDivisionError

    world.run("a", 2).then(fails)
    answers: list[str] = []
    world.run("b", 2).then(answers.append)
    with pytest.raises(ZeroDivisionError):
        world.scheduler.run()
    world.scheduler.run()
    assert answers == ["b"]


def test_an_abandoned_job_that_only_reads_ends(world: World) -> None:
    world.run("a", 2, ends_when_abandoned=True).abandon()
    world.run("b", 2).abandon()
    world.scheduler.run()
    assert world.done == ["a0", "b0", "b1"]


def test_maintenance_pauses_after_each_slice_and_runs_once_at_a_time(world: World) -> None:
    make = world.maintenance("a")
    world.runner.start(make)
    world.runner.start(make)
    seen = []
    for _ in range(4):
        world.scheduler.advance(PAUSE_MS)
        seen.append(len(world.done))
    assert seen == [1, 2, 3, 3]
    world.runner.start(make)
    world.scheduler.advance(PAUSE_MS)
    assert world.done[3:] == ["a0"]


def test_maintenance_backs_off_while_commits_fail(world: World) -> None:
    world.clock.look_ns = 0
    outcomes: list[Outcome] = []
    world.runner.start(world.committing(outcomes))
    for _ in range(2):
        world.broker.commit.fail_next()
    counts = []
    for wait_ms in (PAUSE_MS, RETRY_MS - 1, 1, 2 * RETRY_MS - 1, 1, PAUSE_MS, PAUSE_MS):
        world.scheduler.advance(wait_ms)
        counts.append(len(outcomes))
    assert counts == [1, 1, 2, 2, 3, 4, 4]
    assert [type(one) for one in outcomes] == [StorageFailed] * 2 + [type(None)] * 2


def test_what_goes_on_every_so_often_does_so_after_a_fault_too(world: World) -> None:
    rounds = 0

    def make() -> Job[None]:
        nonlocal rounds
        rounds += 1
        yield SLICE
        raise ZeroDivisionError

    world.runner.every(1000, make)
    for number in (1, 2):
        with pytest.raises(ZeroDivisionError):
            world.scheduler.advance(1000 + PAUSE_MS)
        assert rounds == number


def test_a_fault_in_maintenance_is_not_its_end(world: World) -> None:
    faults = [ZeroDivisionError()]

    def make() -> Job[None]:
        yield SLICE
        if faults:
            raise faults.pop()
        world.done.append("well")

    world.runner.start(make)
    with pytest.raises(ZeroDivisionError):
        world.scheduler.advance(2 * PAUSE_MS)
    world.scheduler.advance(LONGEST_RETRY_MS + 2 * PAUSE_MS)
    assert world.done == ["well"]


def test_after_the_end_nothing_is_done(world: World) -> None:
    outcomes: list[Outcome] = []
    world.runner.at_end(lambda: world.done.append(f"over: {world.runner.is_over}"))
    world.clock.look_ns = 0
    world.runner.start(world.committing(outcomes))
    world.broker.commit.hold()
    world.scheduler.advance(PAUSE_MS)
    world.runner.start(world.maintenance("started"))
    world.runner.every(10, world.maintenance("every"))
    world.runner.soon(lambda: world.done.append("soon"))
    world.runner.after_ms(10, lambda: world.done.append("later"))
    world.runner.end()
    world.runner.end()
    world.broker.commit.let_go()
    world.scheduler.advance(100)
    assert (world.done, outcomes) == (["over: True"], [])


def test_what_is_called_later_may_be_cancelled(world: World) -> None:
    world.runner.after_ms(10, lambda: world.done.append("cancelled")).cancel()
    world.runner.after_ms(10, lambda: world.done.append("later"))
    world.scheduler.advance(10)
    assert world.done == ["later"]
