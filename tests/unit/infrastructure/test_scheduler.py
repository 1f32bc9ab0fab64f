from __future__ import annotations

import asyncio

from application.ports.scheduler import Scheduler
from infrastructure.scheduler import AsyncioScheduler


def run(steps: list[str], *, cancel: bool = False) -> None:
    async def main() -> None:
        done = asyncio.Event()
        scheduler: Scheduler = AsyncioScheduler(asyncio.get_running_loop())
        timer = scheduler.after_ms(1, lambda: steps.append("later"))
        scheduler.after_ms(2, done.set)
        scheduler.soon(lambda: steps.append("soon"))
        steps.append("now")
        if cancel:
            timer.cancel()
        await done.wait()

    asyncio.run(main())


def test_soon_runs_after_now_and_before_later() -> None:
    steps: list[str] = []
    run(steps)
    assert steps == ["now", "soon", "later"]


def test_a_cancelled_timer_never_fires() -> None:
    steps: list[str] = []
    run(steps, cancel=True)
    assert steps == ["now", "soon"]
