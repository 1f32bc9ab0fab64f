"""Aio: the same methods as coroutines, for tests on an event loop."""

from __future__ import annotations

from typing import Any


class Aio:
    """Runs each method in a thread, so that the loop of the test is not blocked."""

    def __init__(self, target: object) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return Aio(found)

        async def call(*arguments: Any, **options: Any) -> Any:
            import asyncio

            return await asyncio.to_thread(found, *arguments, **options)

        return call
