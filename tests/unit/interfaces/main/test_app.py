from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from domain.errors import StorageFailed
from infrastructure.observability.event_log import open_event_log
from infrastructure.observability.timed_commit import TimedCommit
from infrastructure.opening import open_storage
from infrastructure.security.stores import TlsUnusable
from infrastructure.storage.errors import StorageUnusable
from interfaces.kafka.connections import listener
from interfaces.main.container import app as container_app
from interfaces.main.container.app import App
from tests.fakes import certificates
from tests.fakes.copies import FakeCopies
from tests.fakes.settings import settings


def run(check: Callable[[App], Coroutine[Any, Any, None]], **values: str) -> bytes:
    """Checks an app with these settings; returns its log."""
    lines = io.BytesIO()

    async def checked() -> None:
        chosen = settings(listeners="127.0.0.1:0", **values)
        app = App(chosen, asyncio.get_running_loop(), open_event_log(lines, "json"))
        try:
            await check(app)
        finally:
            app.close()

    asyncio.run(checked())
    return lines.getvalue()


def test_a_new_store_is_ready_after_one_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[TimedCommit] = []
    commit = TimedCommit.commit

    def counted(
        self: TimedCommit, done: Callable[[StorageFailed | None], None], waits: bool = False
    ) -> None:
        commits.append(self)
        commit(self, done, waits)

    async def opened(app: App) -> None:
        counts.append(len(commits))

    counts: list[int] = []
    monkeypatch.setattr(TimedCommit, "commit", counted)
    for _ in range(2):
        run(opened, storage=f"lmdb://{tmp_path}")
    assert counts == [1, 1]


def test_a_failed_flush_is_logged_and_flushing_continues() -> None:
    async def until_the_second_flush(app: App) -> None:
        flushed: asyncio.Queue[None] = asyncio.Queue()

        def start_flush() -> None:
            flushed.put_nowait(None)
            raise StorageFailed("no descriptor is left")

        app.storage.start_flush = start_flush
        app.start_upkeep()
        for _ in range(2):
            await asyncio.wait_for(flushed.get(), 30)

    log = run(until_the_second_flush, storage="memory://", flush_interval_ms="1")
    assert b"flush_failed" in log


@pytest.mark.parametrize(("copies", "logged"), [(1, True), (2, False)])
def test_too_few_copies_are_logged_at_the_start(copies: int, logged: bool) -> None:
    async def started(app: App) -> None:
        app.storage.copies = FakeCopies(copies)
        app.start_upkeep()

    log = run(started, storage="memory://", min_insync_replicas="2")
    assert (b'"store_copies_too_few","copies":1,"min_insync_replicas":2' in log) == logged


@pytest.mark.parametrize(
    ("call", "interval"), [("check_file", "CHECK_FILE_MS"), ("keep_up", "KEEP_UP_MS")]
)
def test_a_store_is_called_now_and_then(
    monkeypatch: pytest.MonkeyPatch, call: str, interval: str
) -> None:
    monkeypatch.setattr(f"interfaces.main.container.store_upkeep.{interval}", 1)

    async def until_the_second_call(app: App) -> None:
        called: asyncio.Queue[None] = asyncio.Queue()
        setattr(app.storage, call, partial(called.put_nowait, None))
        app.start_upkeep()
        for _ in range(2):
            await asyncio.wait_for(called.get(), 30)

    run(until_the_second_call, storage="memory://")


def test_a_table_that_cannot_be_dropped_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interfaces.main.container.store_upkeep.CHECK_WAITS_MS", 1)

    async def until_the_second_call(app: App) -> None:
        called: asyncio.Queue[None] = asyncio.Queue()

        def not_dropped() -> list[str]:
            called.put_nowait(None)
            return ["tail 1: a view"]

        app.storage.not_dropped = not_dropped
        app.start_upkeep()
        for _ in range(2):
            await asyncio.wait_for(called.get(), 30)

    log = run(until_the_second_call, storage="memory://")
    assert log.count(b'"table_not_dropped","reason":"tail 1: a view"') == 1


def test_a_start_that_fails_leaves_no_thread_and_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread of the offset store runs before the listeners are created."""

    def refuse(*arguments: object) -> None:
        raise OSError("no such thing")

    async def loaded(app: App) -> None:
        await app.loaded()

    with monkeypatch.context() as patch:
        patch.setattr(listener.Listener, "__init__", refuse)
        with pytest.raises(OSError, match="no such thing"):
            run(loaded, log_dirs=str(tmp_path), offsets="sqlite://")
    assert "ottla-offsets" not in [thread.name for thread in threading.enumerate()]
    open_storage(f"lmdb://{tmp_path}").commit.close()


@pytest.mark.parametrize(
    ("offsets", "usable", "failures"),
    [("sqlite://", True, []), ("sqlite:///nowhere/x", False, ["unable to open database file"])],
)
def test_the_start_waits_for_committed_offsets_unless_they_are_unusable(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    offsets: str,
    usable: bool,
    failures: list[str],
) -> None:
    monkeypatch.setattr(container_app, "LOADING_PATIENCE_S", 3600.0)
    found: list[StorageUnusable] = []

    async def check(app: App) -> None:
        app.when_unusable(found.append)
        await app.loaded()
        assert app.broker.groups.offsets.loaded is usable

    run(check, log_dirs=str(tmp_path), offsets=offsets)
    assert [str(one) for one in found] == failures


@pytest.mark.parametrize("days", [29, 31])
def test_a_certificate_that_expires_within_30_days_is_logged(tmp_path: Path, days: int) -> None:
    made = certificates.broker(certificates.authority(), days=days)
    keystore = certificates.write(tmp_path, broker=made.pem)["broker"]

    async def check(app: App) -> None:
        app.start_upkeep()

    log = run(
        check,
        storage="memory://",
        listener_security_protocol_map="PLAINTEXT:SSL",
        ssl_keystore_type="PEM",
        ssl_keystore_location=str(keystore),
    )
    assert (b"certificate_expires" in log) is (days == 29)


def test_a_listener_without_a_certificate_is_named() -> None:
    async def check(_app: App) -> None:
        return

    with pytest.raises(TlsUnusable, match="listener PLAINTEXT: no certificate for the broker"):
        run(check, storage="memory://", listener_security_protocol_map="PLAINTEXT:SSL")


def test_connections_are_closed_before_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """What that makes of a commit under way would be no true response: it may be persisted."""
    ended: list[str] = []

    class Session:
        def abort(self) -> None:
            ended.append("connection")

    async def connected(app: App) -> None:
        app._shared.sessions[Session()] = None  # type: ignore[index]
        commit = type(app.storage.commit)
        monkeypatch.setattr(commit, "close", lambda _: ended.append("store"))

    run(connected, storage="memory://")
    assert ended == ["connection", "store"]
