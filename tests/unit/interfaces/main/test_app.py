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

    assert b"flush_failed" in lines.getvalue()


def test_a_start_that_fails_leaves_no_thread_and_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The offsets' thread runs already when the listeners are made."""
    given = {"listeners": "127.0.0.1:0", "log.dirs": str(tmp_path), "offsets": "sqlite://"}
    settings = load_settings({name: Given(text, "test") for name, text in given.items()}, {})

    def refuse(*arguments: object) -> None:
        raise OSError("no such thing")

    async def start() -> None:
        App(settings, asyncio.get_running_loop(), open_event_log(io.BytesIO(), "json"))

    with monkeypatch.context() as patch:
        patch.setattr(listener.Listener, "__init__", refuse)
        with pytest.raises(OSError, match="no such thing"):
            asyncio.run(start())
    assert "ottla-offsets" not in [thread.name for thread in threading.enumerate()]
    open_storage(f"lmdb://{tmp_path}").commit.close()


def test_whoever_comes_first_finds_offsets_of_a_file_loaded(tmp_path: Path) -> None:
    given = {"listeners": "127.0.0.1:0", "log.dirs": str(tmp_path), "offsets": "sqlite://"}
    settings = load_settings({name: Given(text, "test") for name, text in given.items()}, {})

    async def start() -> bool:
        app = App(settings, asyncio.get_running_loop(), open_event_log(io.BytesIO(), "json"))
        try:
            await app.loaded()
            return app.broker.groups.offsets.loaded
        finally:
            app.close()

    assert asyncio.run(start())


def test_offsets_that_are_unusable_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_app, "LOADING_PATIENCE_S", 3600.0)
    given = {
        "listeners": "127.0.0.1:0",
        "log.dirs": str(tmp_path),
        "offsets": "sqlite:///nowhere/x",
    }
    settings = load_settings({name: Given(text, "test") for name, text in given.items()}, {})

    async def start() -> list[StorageUnusable]:
        app = App(settings, asyncio.get_running_loop(), open_event_log(io.BytesIO(), "json"))
        failures: list[StorageUnusable] = []
        try:
            app.when_unusable(failures.append)
            await app.loaded()
            return failures
        finally:
            app.close()

    assert [str(one) for one in asyncio.run(start())] == ["unable to open database file"]
