from __future__ import annotations

import pytest

from application.groups.deadlines import Deadlines
from tests.fakes.clock import FakeClock
from tests.fakes.scheduler import FakeScheduler


class Watched:
    """A group with these deadlines, one after the other."""

    def __init__(self, *next_ms: int) -> None:
        self.clock = FakeClock()
        self.scheduler = FakeScheduler(self.clock)
        self.deadlines = Deadlines(self.scheduler, self.clock, self._due)
        self._next_ms = list(next_ms)
        self.fired_ms: list[int] = []
        self.faults: list[Exception] = []
        self.start_ms = self.clock.monotonic_ms()

    def watch(self, after_ms: int | None) -> None:
        self.deadlines.watch("g", None if after_ms is None else self.start_ms + after_ms)

    def _due(self, group_id: str) -> int | None:
        assert group_id == "g"
        self.fired_ms.append(self.clock.monotonic_ms() - self.start_ms)
        if self.faults:
            raise self.faults.pop()
        return self.start_ms + self._next_ms.pop(0) if self._next_ms else None


@pytest.fixture
def watched() -> Watched:
    return Watched(300)


@pytest.mark.parametrize(
    ("deadlines", "fired"),
    [
        ((100,), [100, 300]),
        ((100, 200), [100, 300]),
        ((200, 100), [100, 300]),
        ((None,), []),
        ((-50,), [0, 300]),
    ],
)
def test_a_group_is_checked_at_its_first_deadline_and_at_the_next(
    watched: Watched, deadlines: tuple[int | None, ...], fired: list[int]
) -> None:
    for after_ms in deadlines:
        watched.watch(after_ms)
    watched.scheduler.advance(1000)
    assert watched.fired_ms == fired


def test_a_fault_in_a_group_is_followed_by_another_check(watched: Watched) -> None:
    watched.faults.append(ZeroDivisionError())
    watched.watch(100)
    with pytest.raises(ZeroDivisionError):
        watched.scheduler.advance(1000)
    watched.scheduler.advance(1000)
    assert watched.fired_ms[:2] == [100, 1100]


def test_a_group_that_is_cancelled_and_watched_again_in_one_pass_is_checked_once() -> None:
    watched = Watched()
    for _ in range(3):
        watched.watch(0)
        watched.deadlines.cancel("g")
    watched.watch(100)
    watched.scheduler.advance(1000)
    assert watched.fired_ms == [100]
