"""Aio: the same methods as coroutines, for tests on an event loop."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import TracebackType
from typing import Any, Self


class WithBlock:
    """A `with` block, or `async with`, which closes this at its end."""

    def _open(self) -> None: ...

    def _close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    async def __aenter__(self) -> Self:
        await Aio(self)._open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await Aio(self)._close()


class Aio:
    """Runs each method in a thread, so that the loop of the test is not blocked."""

    def __init__(self, target: object) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return Aio(found)

        def call(*arguments: Any, **options: Any) -> AioCall:
            import asyncio

            return AioCall(asyncio.to_thread(found, *arguments, **options))

        return call


class AioCall(Coroutine[Any, Any, Any]):
    """To be awaited, or entered: `async with broker.aio.fail(...)`."""

    def __init__(self, call: Coroutine[Any, Any, Any]) -> None:
        self._call = call

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._call.__await__()

    def send(self, value: Any) -> Any:
        return self._call.send(value)

    def throw(self, *failure: Any) -> Any:
        return self._call.throw(*failure)

    def close(self) -> None:
        self._call.close()

    async def __aenter__(self) -> Any:
        self._entered = await self._call
        return await self._entered.__aenter__()

    async def __aexit__(self, *failure: Any) -> None:
        await self._entered.__aexit__(*failure)
