from __future__ import annotations

import asyncio
from collections.abc import Callable

from application.ports.clock import Clock
from application.ports.scheduler import Scheduler, Timer
from infrastructure.adjustable_time import STEPS, AdjustableClock, AdjustableScheduler

HOUR_MS = 3_600_000


class Time:
    """Notes which callbacks ran, and how far the clock was advanced by then."""

    def __init__(self) -> None:
        self.clock = AdjustableClock()
        self.real = AdjustableScheduler(asyncio.get_running_loop(), self.clock)
        self.scheduler: Scheduler = self.real
        self.ran: list[tuple[str, int]] = []

    def note(self, name: str) -> Callable[[], None]:
        return lambda: self.ran.append((name, self.clock.advanced_ms))

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.ran]


def test_both_clocks_go_forward() -> None:
    async def main() -> None:
        time = Time()
        clock: Clock = time.clock
        before = clock.now_ms(), clock.monotonic_ms(), clock.monotonic_ns() // 1_000_000
        await time.real.advance(HOUR_MS)
        after = clock.now_ms(), clock.monotonic_ms(), clock.monotonic_ns() // 1_000_000
        for one, other in zip(before, after, strict=True):
            assert HOUR_MS <= other - one < 2 * HOUR_MS

    asyncio.run(main())


def test_due_timers_fire_in_order_and_later_ones_do_not() -> None:
    async def main() -> None:
        time = Time()
        for name, delay_ms in (("late", HOUR_MS + 60_000), ("second", 60_000), ("first", 30_000)):
            time.scheduler.after_ms(delay_ms, time.note(name))
        time.scheduler.after_ms(10_000, time.note("cancelled")).cancel()
        await time.real.advance(HOUR_MS)
        assert time.names == ["first", "second"]
        assert len(time.real.timers) == 1

    asyncio.run(main())


def test_a_timer_is_cancelled_by_one_that_fires_with_it() -> None:
    async def main() -> None:
        time = Time()
        timers: list[Timer] = []

        def first() -> None:
            time.note("first")()
            timers[1].cancel()

        timers += [time.scheduler.after_ms(1000, each) for each in (first, time.note("second"))]
        await time.real.advance(HOUR_MS)
        assert time.names == ["first"]

    asyncio.run(main())


def test_timers_and_callbacks_that_a_timer_starts_run_too() -> None:
    async def main() -> None:
        time = Time()

        def rebalance() -> None:
            time.scheduler.soon(time.note("soon"))
            time.scheduler.after_ms(60_000, time.note("an hour is enough"))

        time.scheduler.after_ms(60_000, rebalance)
        await time.real.advance(HOUR_MS)
        assert time.names == ["soon", "an hour is enough"]
        (_, first_ms), (_, second_ms) = time.ran
        assert second_ms - first_ms < 60_000 + 2 * HOUR_MS // STEPS

    asyncio.run(main())


def test_a_repeated_timer_fires_a_bounded_number_of_times() -> None:
    async def main() -> None:
        time = Time()

        def again() -> None:
            time.note("again")()
            time.scheduler.after_ms(1, again)

        again()
        await time.real.advance(1000 * HOUR_MS)
        assert len(time.ran) <= STEPS + 1

    asyncio.run(main())


def test_a_timer_fires_by_itself_when_its_time_has_passed() -> None:
    async def main() -> None:
        time = Time()
        fired = asyncio.Event()
        time.scheduler.after_ms(1, fired.set)
        await asyncio.wait_for(fired.wait(), 30)
        assert not time.real.timers

    asyncio.run(main())


def test_a_timer_that_is_nearly_due_fires_soon_after_the_clock_was_advanced() -> None:
    async def main() -> None:
        time = Time()
        fired = asyncio.Event()
        time.scheduler.after_ms(HOUR_MS + 500, fired.set)
        await time.real.advance(HOUR_MS)
        assert not fired.is_set()
        await asyncio.wait_for(fired.wait(), 30)

    asyncio.run(main())


def test_a_failing_timer_does_not_stop_the_others() -> None:
    async def main() -> None:
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: failures.append(context["exception"])
        )
        time = Time()

        def fail() -> None:
            raise RuntimeError("a fault")

        time.scheduler.after_ms(10, fail)
        time.scheduler.after_ms(20, time.note("next"))
        await time.real.advance(1000)
        assert time.names == ["next"]
        assert len(failures) == 1

    asyncio.run(main())
