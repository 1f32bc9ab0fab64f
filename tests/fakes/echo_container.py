"""A container whose listeners echo lines: tests serve.py without a broker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from infrastructure.storage.errors import StorageUnusable
from interfaces.main.settings.sources import Settings
from interfaces.sockets import ListeningSockets


class EchoListener:
    def __init__(self) -> None:
        self._server: asyncio.Server | None = None

    async def start(self, sockets: ListeningSockets) -> None:
        self._server = await asyncio.start_server(self._echo, sock=sockets.sockets[0])

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()


class NoAdmin:
    """Closes the listener."""

    def open(self, sockets: ListeningSockets) -> tuple[str, int]:
        return sockets.host, sockets.port


class EchoContainer:
    def __init__(self, settings: Settings) -> None:
        self.listeners: Sequence[EchoListener] = [EchoListener() for _ in settings.listeners]
        self.raw_listeners: Sequence[EchoListener] = ()
        self.admin = NoAdmin()
        self.cluster_id = "a-cluster"
        self.recovered = "2 topics, 3 partitions"
        self.brokers = ""
        self.has_standby: bool | None = None
        self.steps: list[str] = []
        #: Not set: a response never comes, so a drain lasts until its timeout.
        self.answered = asyncio.Event()
        self.answered.set()

    def when_fenced(self, call: Callable[[], None]) -> None:
        """It is alone."""

    def when_unusable(self, call: Callable[[StorageUnusable], None]) -> None:
        self.unusable = call

    async def join(self) -> None: ...

    async def loaded(self) -> None:
        """At once."""

    def renew_certificates(self) -> None:
        self.steps.append("renew certificates")

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
