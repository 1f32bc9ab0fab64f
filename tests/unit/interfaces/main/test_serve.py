from __future__ import annotations

import asyncio
import io
import json
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from application.ports.event_log import EventLog
from domain.errors import StorageFailed
from infrastructure.observability.event_log import open_event_log
from infrastructure.storage.errors import StorageUnusable
from interfaces.main.ports import CannotStart
from interfaces.main.serve import _log_started, serve
from interfaces.main.settings.sources import Settings
from interfaces.main.started import OpenListener, Started
from tests.fakes.echo_container import EchoContainer
from tests.fakes.settings import settings

Check = Callable[["Running"], Coroutine[Any, Any, None]]


class Running:
    """serve() on an echo container: its start, its log, and its stop."""

    def __init__(self, ready_file: Path, **values: str) -> None:
        defaults = {"listeners": "127.0.0.1:0", "admin_listeners": "off", "storage": "memory://"}
        self.settings = settings(**(defaults | values))
        self.ready_file = ready_file
        self.lines = io.BytesIO()
        self.container: EchoContainer
        self.started: Started
        self.exit_code = -1
        self.when_built: Callable[[], object] = lambda: None

    def __call__(self, check: Check) -> None:
        asyncio.run(self._run(check))

    async def _run(self, check: Check) -> None:
        self.stop = asyncio.Event()
        announced = asyncio.Event()

        def announce(started: Started) -> None:
            self.started = started
            announced.set()

        def build(chosen: Settings, _loop: object, _log: EventLog) -> EchoContainer:
            self.container = EchoContainer(chosen)
            self.when_built()
            return self.container

        log = open_event_log(self.lines, "json")
        serving = asyncio.ensure_future(
            serve(self.settings, log, build, self.stop, announce, self.ready_file)
        )
        await asyncio.wait(
            [serving, asyncio.ensure_future(announced.wait())], return_when="FIRST_COMPLETED"
        )
        if not serving.done():
            await check(self)
            self.stop.set()
        self.exit_code = await serving

    def logged(self) -> list[str]:
        return [json.loads(line)["event"] for line in self.lines.getvalue().splitlines()]


async def nothing(_running: Running) -> None:
    return


def test_a_service_manager_is_notified_of_start_and_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"{tmp_path}/notify")
        manager.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", f"{tmp_path}/notify")
        heard: list[bytes] = []

        async def check(_running: Running) -> None:
            heard.append(manager.recv(100))

        Running(tmp_path / "ready.json")(check)
        heard.append(manager.recv(100))
    assert heard == [b"READY=1", b"STOPPING=1"]


def test_the_broker_starts_upkeep_after_its_listeners_and_drains_before_it_closes(
    tmp_path: Path,
) -> None:
    async def check(running: Running) -> None:
        for listener in json.loads(running.ready_file.read_text())["listeners"]:
            reader, writer = await asyncio.open_connection(listener["host"], listener["port"])
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
            writer.close()
            await writer.wait_closed()

    running = Running(tmp_path / "r", listeners="A://127.0.0.1:0,B://127.0.0.1:0")
    running(check)
    assert running.exit_code == 0
    assert list(tmp_path.iterdir()) == []
    assert running.container.steps == ["upkeep", "drain", "close"]
    assert running.logged() == ["broker_stopped"]


def test_the_start_is_logged_with_the_protocols_that_names_do_not_tell() -> None:
    chosen = settings(listeners="A://127.0.0.1:1,PLAINTEXT://127.0.0.1:2", admin_listeners="off")
    opened = [OpenListener(one, one.host, one.port, chosen.broker) for one in chosen.listeners]
    lines = io.BytesIO()
    _log_started(open_event_log(lines, "json"), Started(chosen, "1", "c", opened, "empty"))
    logged = json.loads(lines.getvalue().splitlines()[-1])
    assert logged["listeners"] == [
        "A://127.0.0.1:1 -> as connected (PLAINTEXT)",
        "PLAINTEXT://127.0.0.1:2 -> as connected",
    ]


def test_one_of_several_brokers_advertises_where_it_listens_or_the_name_of_the_machine() -> None:
    chosen = settings(
        listeners="A://127.0.0.1:1,B://:2,C://:3", advertised_listeners="C://kafka-1:9"
    )
    hosts = ("127.0.0.1", "0.0.0.0", "0.0.0.0")
    several, alone = (
        [
            OpenListener(one, host, one.port, chosen.broker, is_announced=is_announced).advertised
            for one, host in zip(chosen.listeners, hosts, strict=True)
        ]
        for is_announced in (True, False)
    )
    assert several == ["127.0.0.1:1", f"{socket.gethostname()}:2", "kafka-1:9"]
    assert alone == [None, None, "kafka-1:9"]


def test_unusable_offsets_drain_and_stop_the_broker(tmp_path: Path) -> None:
    running = Running(tmp_path / "r", storage=f"lmdb://{tmp_path}", offsets="sqlite:///o.db")

    async def check(running: Running) -> None:
        running.container.unusable(StorageUnusable("it holds\nsomething else"))

    with pytest.raises(CannotStart) as failure:
        running(check)
    assert str(failure.value) == (
        "cannot keep committed offsets in sqlite:///o.db: it holds something else"
    )
    assert running.container.steps == ["upkeep", "drain", "close"]
    assert not running.ready_file.exists()


def test_a_drain_that_times_out_is_logged(tmp_path: Path) -> None:
    running = Running(tmp_path / "r", drain_timeout_ms="0")

    async def check(running: Running) -> None:
        running.container.answered.clear()

    running(check)
    assert running.container.steps[-1] == "close"
    assert running.logged() == ["drain_timed_out", "broker_stopped"]


@pytest.mark.parametrize("other", ["B://127.0.0.1", "B://0.0.0.0", "B://localhost"])
def test_two_listeners_on_one_port_are_refused_before_a_store_is_opened(
    tmp_path: Path, other: str
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = Running(tmp_path / "r", listeners=f"A://localhost:{port},{other}:{port}")
    running.when_built = lambda: pytest.fail("the store was opened")
    with pytest.raises(CannotStart, match="the port is in use"):
        running(nothing)


def test_a_listener_or_a_ready_file_that_cannot_be_created_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"192.0.2.1:0: "):
        Running(tmp_path / "r", listeners="192.0.2.1:0")(nothing)
    with pytest.raises(CannotStart, match="ready file"):
        Running(tmp_path / "no-such-folder" / "r")(nothing)


@pytest.mark.parametrize("failure", [StorageFailed("in use"), PermissionError(13, "in use")])
def test_a_store_that_cannot_be_opened_ends_the_start(tmp_path: Path, failure: Exception) -> None:
    def fail() -> None:
        raise failure

    running = Running(tmp_path / "r", storage="lmdb:///x")
    running.when_built = fail
    with pytest.raises(CannotStart, match="lmdb:///x: in use"):
        running(nothing)
