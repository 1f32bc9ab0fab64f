"""A container whose listeners answer each line with itself: serve.py without a broker behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from infrastructure.storage.errors import StorageUnusable
from interfaces.main.settings.listeners import ListenerSettings
from interfaces.main.settings.sources import Settings


class EchoListener:
    def __init__(self, settings: ListenerSettings) -> None:
        self._settings = settings
        self._server: asyncio.Server | None = None
        self.bound = ("", 0)

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._answer, self._settings.host, self._settings.port
        )
        self.bound = self._server.sockets[0].getsockname()[:2]

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()


class ClosedDoor:
    """No admin side: every address is had, and nobody listens there."""

    def open(self, host: str, port: int) -> tuple[str, int]:
        return host, port


class EchoContainer:
    def __init__(self, settings: Settings) -> None:
        self.listeners: Sequence[EchoListener] = [EchoListener(each) for each in settings.listeners]
        self.admin = ClosedDoor()
        self.cluster_id = "a-cluster"
        self.recovered = "2 topics, 3 partitions"
        self.steps: list[str] = []
        #: Not set: something is never answered, so a drain takes until its time is up.
        self.answered = asyncio.Event()
        self.answered.set()

    def when_unusable(self, call: Callable[[StorageUnusable], None]) -> None:
        self.unusable = call

    async def loaded(self) -> None:
        """At once."""

    def start_upkeep(self) -> None:
        self.steps.append("upkeep")

    async def drain(self, timeout_seconds: float) -> bool:
        self.steps.append("drain")
        for listener in self.listeners:
            listener.close()
        try:
            await asyncio.wait_for(self.answered.wait(), timeout_seconds)
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        for listener in self.listeners:
            listener.close()
        self.steps.append("close")
