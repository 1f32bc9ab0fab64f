from __future__ import annotations

import pytest

from application.upkeep.spare_time import SpareTime
from tests.fakes.clock import FakeClock
from tests.fakes.scheduler import FakeScheduler


@pytest.fixture
def scheduler() -> FakeScheduler:
    return FakeScheduler(FakeClock())


@pytest.fixture
def called() -> list[str]:
    return []


def test_what_was_asked_for_is_done(scheduler: FakeScheduler, called: list[str]) -> None:
    spare_time = SpareTime(scheduler)
    spare_time.soon(lambda: called.append("soon"))
    spare_time.after_ms(10, lambda: called.append("later"))
    scheduler.advance(10)
    assert called == ["soon", "later"]


def test_what_was_cancelled_is_not(scheduler: FakeScheduler, called: list[str]) -> None:
    SpareTime(scheduler).after_ms(10, lambda: called.append("later")).cancel()
    scheduler.advance(10)
    assert called == []


def test_what_was_put_off_is_done_at_the_end_and_once(
    scheduler: FakeScheduler, called: list[str]
) -> None:
    spare_time = SpareTime(scheduler)
    spare_time.at_end(lambda: called.append(f"over: {spare_time.is_over}"))
    spare_time.end()
    spare_time.end()
    assert called == ["over: True"]


def test_after_its_end_nothing_is_done(scheduler: FakeScheduler, called: list[str]) -> None:
    spare_time = SpareTime(scheduler)
    spare_time.soon(lambda: called.append("soon"))
    spare_time.after_ms(10, lambda: called.append("later"))
    spare_time.end()
    spare_time.after_ms(10, lambda: called.append("too late"))
    scheduler.advance(10)
    assert called == []
