from __future__ import annotations

import asyncio
import io

from domain.errors import StorageFailed
from infrastructure.observability.event_log import open_event_log
from interfaces.main.container.app import App
from interfaces.main.settings.origin import Given
from interfaces.main.settings.sources import load_settings


def test_a_flush_that_fails_is_told_and_does_not_end_the_flushing() -> None:
    given = {"listeners": "127.0.0.1:0", "storage": "memory://", "flush.interval.ms": "1"}
    settings = load_settings({name: Given(text, "test") for name, text in given.items()}, {})
    lines = io.BytesIO()

    async def until_the_second_flush() -> None:
        app = App(settings, asyncio.get_running_loop(), open_event_log(lines, "json"))
        flushed: asyncio.Queue[None] = asyncio.Queue()

        def start_flush() -> None:
            flushed.put_nowait(None)
            raise StorageFailed("no descriptor is left")

        app.storage.start_flush = start_flush
        app.start_upkeep()
        for _ in range(2):
            await asyncio.wait_for(flushed.get(), 30)
        app.close()

    asyncio.run(until_the_second_flush())

    assert b"the store was not flushed; it will be tried again" in lines.getvalue()
