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
        self.clock.look_ns = SLICE_NS  # the duration of each step
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


def test_a_short_job_ends_at_once(world: World) -> None:
    results: list[str] = []
    world.run("a", 1).then(results.append)
    assert results == ["a"] and not len(world.runner)


def test_each_pass_runs_a_slice_of_one_job(world: World) -> None:
    results: list[str] = []
    for name in "abc":
        world.run(name, 3).then(results.append)
    began = len(world.done)
    passes = []
    while len(world.runner):
        world.scheduler.run_pass()
        passes.append(world.done[began:])
        began = len(world.done)
    assert passes == [["a1"], ["b1"], ["c1"], ["a2"], ["b2"], ["c2"]]
    assert results == ["a", "b", "c"]


@pytest.mark.parametrize(("step_ns", "steps"), [(SLICE_NS // 4, 4), (0, STEPS_PER_SLICE)])
def test_a_slice_is_limited_in_time_and_steps(world: World, step_ns: int, steps: int) -> None:
    world.clock.look_ns = step_ns
    world.run("a", STEPS_PER_SLICE + 1)
    assert len(world.done) == steps


@pytest.mark.parametrize("commits", [False, True])
def test_a_job_can_wait_for_a_commit_or_another_result(world: World, commits: bool) -> None:
    other: Pending[Outcome] = Pending()

    def job() -> Job[Outcome]:
        return (yield COMMIT if commits else other)

    world.broker.commit.hold()
    result = world.runner.run(job())
    world.scheduler.run()
    assert not result.resolved
    world.broker.commit.let_go() if commits else other.resolve(None)
    assert result.resolved


def test_a_fault_in_a_job_does_not_affect_others(world: World) -> None:
    def job() -> Job[str]:
        yield SLICE
        raise ZeroDivisionError

    faulty = world.runner.run(job())
    results: list[str] = []
    world.run("a", 2).then(results.append)
    world.scheduler.run()
    assert isinstance(faulty.fault, ZeroDivisionError)
    assert results == ["a"]


def test_a_fault_in_a_callback_does_not_affect_other_jobs(world: World) -> None:
    def fails(result: str) -> None:
        raise ZeroDivisionError

    world.run("a", 2).then(fails)
    results: list[str] = []
    world.run("b", 2).then(results.append)
    with pytest.raises(ZeroDivisionError):
        world.scheduler.run()
    world.scheduler.run()
    assert results == ["b"]


def test_an_abandoned_job_ends_if_it_only_reads(world: World) -> None:
    world.run("a", 2, ends_when_abandoned=True).abandon()
    world.run("b", 2).abandon()
    world.scheduler.run()
    assert world.done == ["a0", "b0", "b1"]


def test_background_jobs_pause_after_each_slice_and_run_once_at_a_time(world: World) -> None:
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


def test_background_jobs_back_off_while_commits_fail(world: World) -> None:
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


def test_a_periodic_job_continues_after_a_fault(world: World) -> None:
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


def test_a_background_job_is_repeated_after_a_fault(world: World) -> None:
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


def test_after_the_end_nothing_runs(world: World) -> None:
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


def test_a_delayed_call_can_be_cancelled(world: World) -> None:
    world.runner.after_ms(10, lambda: world.done.append("cancelled")).cancel()
    world.runner.after_ms(10, lambda: world.done.append("later"))
    world.scheduler.advance(10)
    assert world.done == ["later"]
