from __future__ import annotations

import pytest

from application.groups.deadlines import Deadlines
from tests.fakes.clock import FakeClock
from tests.fakes.scheduler import FakeScheduler


class Watched:
    """A group that wants to be looked at again at each of these moments."""

    def __init__(self, *next_ms: int) -> None:
        self.clock = FakeClock()
        self.scheduler = FakeScheduler(self.clock)
        self.deadlines = Deadlines(self.scheduler, self.clock, self._due)
        self._next_ms = list(next_ms)
        self.woken_ms: list[int] = []
        self.faults: list[Exception] = []
        self.start_ms = self.clock.monotonic_ms()

    def watch(self, after_ms: int | None) -> None:
        self.deadlines.watch("g", None if after_ms is None else self.start_ms + after_ms)

    def _due(self, group_id: str) -> int | None:
        assert group_id == "g"
        self.woken_ms.append(self.clock.monotonic_ms() - self.start_ms)
        if self.faults:
            raise self.faults.pop()
        return self.start_ms + self._next_ms.pop(0) if self._next_ms else None


@pytest.fixture
def watched() -> Watched:
    return Watched(300)


def test_a_group_is_woken_when_it_wanted_and_asked_when_next(watched: Watched) -> None:
    watched.watch(100)
    watched.scheduler.advance(1000)
    assert watched.woken_ms == [100, 300]


def test_a_later_moment_does_not_put_off_the_look_at_the_group(watched: Watched) -> None:
    watched.watch(100)
    watched.watch(200)
    watched.scheduler.advance(1000)
    assert watched.woken_ms == [100, 300]


def test_an_earlier_moment_is_kept(watched: Watched) -> None:
    watched.watch(200)
    watched.watch(100)
    watched.scheduler.advance(1000)
    assert watched.woken_ms == [100, 300]


def test_a_group_that_waits_for_nothing_is_not_woken(watched: Watched) -> None:
    watched.watch(None)
    watched.scheduler.advance(1000)
    assert watched.woken_ms == []


def test_what_is_long_due_is_looked_at_at_once(watched: Watched) -> None:
    watched.watch(-50)
    watched.scheduler.advance(1)
    assert watched.woken_ms == [0]


def test_a_group_that_could_not_be_looked_at_is_looked_at_again(watched: Watched) -> None:
    watched.faults.append(ZeroDivisionError())
    watched.watch(100)
    with pytest.raises(ZeroDivisionError):
        watched.scheduler.advance(1000)
    watched.scheduler.advance(1000)
    assert watched.woken_ms[:2] == [100, 1100]


def test_a_group_that_is_forgotten_and_watched_again_in_one_pass_is_woken_once() -> None:
    watched = Watched()
    for _ in range(3):
        watched.watch(0)
        watched.deadlines.cancel("g")
    watched.watch(100)
    watched.scheduler.advance(1000)
    assert watched.woken_ms == [100]
