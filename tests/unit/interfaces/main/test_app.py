from __future__ import annotations

import asyncio
import io
import threading
from pathlib import Path

import pytest

from domain.errors import StorageFailed
from infrastructure.observability.event_log import open_event_log
from infrastructure.opening import open_storage
from infrastructure.storage.errors import StorageUnusable
from interfaces.kafka.connections import listener
from interfaces.main.container import app as container_app
from interfaces.main.container.app import App
from tests.fakes.settings import settings


def test_a_failed_flush_is_logged_and_flushing_continues() -> None:
    chosen = settings(listeners="127.0.0.1:0", storage="memory://", flush_interval_ms="1")
    lines = io.BytesIO()

    async def until_the_second_flush() -> None:
        app = App(chosen, asyncio.get_running_loop(), open_event_log(lines, "json"))
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

    assert b"flush_failed" in lines.getvalue()


def test_a_start_that_fails_leaves_no_thread_and_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread of the offset store runs before the listeners are created."""
    chosen = settings(listeners="127.0.0.1:0", log_dirs=str(tmp_path), offsets="sqlite://")

    def refuse(*arguments: object) -> None:
        raise OSError("no such thing")

    async def start() -> None:
        App(chosen, asyncio.get_running_loop(), open_event_log(io.BytesIO(), "json"))

    with monkeypatch.context() as patch:
        patch.setattr(listener.Listener, "__init__", refuse)
        with pytest.raises(OSError, match="no such thing"):
            asyncio.run(start())
    assert "ottla-offsets" not in [thread.name for thread in threading.enumerate()]
    open_storage(f"lmdb://{tmp_path}").commit.close()


def test_offsets_of_a_file_are_loaded_before_the_first_request(tmp_path: Path) -> None:
    chosen = settings(listeners="127.0.0.1:0", log_dirs=str(tmp_path), offsets="sqlite://")

    async def start() -> bool:
        app = App(chosen, asyncio.get_running_loop(), open_event_log(io.BytesIO(), "json"))
        try:
            await app.loaded()
            return app.broker.groups.offsets.loaded
        finally:
            app.close()

    assert asyncio.run(start())


def test_the_start_does_not_wait_for_unusable_offsets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_app, "LOADING_PATIENCE_S", 3600.0)
    chosen = settings(
        listeners="127.0.0.1:0", log_dirs=str(tmp_path), offsets="sqlite:///nowhere/x"
    )

    async def start() -> list[StorageUnusable]:
        app = App(chosen, asyncio.get_running_loop(), open_event_log(io.BytesIO(), "json"))
        failures: list[StorageUnusable] = []
        try:
            app.when_unusable(failures.append)
            await app.loaded()
            return failures
        finally:
            app.close()

    assert [str(one) for one in asyncio.run(start())] == ["unable to open database file"]
