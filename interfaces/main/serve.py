"""`ottla serve`: starts a broker from its settings, and drains it at a signal."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from application.ports.event_log import EventLog
from domain.errors import StorageFailed
from infrastructure.observability.event_log import event_log
from infrastructure.security.stores import TlsUnusable
from infrastructure.storage.errors import OffsetsUnusable, StorageUnusable
from interfaces.embed import __version__
from interfaces.embed.child import stdin_ended
from interfaces.main.banner import banner
from interfaces.main.notify import notify
from interfaces.main.ports import CannotStart, Ports, reason_of
from interfaces.main.ready import remove_ready_file, write_ready_file
from interfaces.main.settings.sources import Settings
from interfaces.main.started import OpenListener, Started
from interfaces.sockets import ListeningSockets
from interfaces.terminal.addresses import host_port

#: How soon a waiting thread gets the interpreter, as after an fsync.
SWITCH_INTERVAL_SECONDS = 0.0005

#: Objects per young collection, young collections per middle one, and so on.
COLLECTION_THRESHOLDS = (5_000, 20, 50)

#: In place of an exit code: the process starts again.
FENCED = -1
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WAS_FENCED = "_OTTLA_FENCED"
_TRY_AGAIN_SECONDS = 1.0

#: How long the process waits for a slow reader of its log at the end.
LOG_PATIENCE_SECONDS = 1.0


class Listener(Protocol):
    async def start(self, sockets: ListeningSockets) -> None: ...


class Admin(Protocol):
    def open(self, sockets: ListeningSockets) -> tuple[str, int]: ...


class Container(Protocol):
    """A composed broker, with one listener for each of the settings, in their order."""

    @property
    def cluster_id(self) -> str: ...

    @property
    def recovered(self) -> str:
        """The contents of the store: "3 topics, 12 partitions"."""
        ...

    @property
    def brokers(self) -> str:
        """Which of several this one is: "broker 2, one of 3"; empty if it is the only one."""
        ...

    @property
    def has_standby(self) -> bool | None:
        """Acknowledged data is on a synchronous standby, too. None: not in a database."""
        ...

    @property
    def listeners(self) -> Sequence[Listener]: ...

    @property
    def raw_listeners(self) -> Sequence[Listener]: ...

    @property
    def admin(self) -> Admin: ...

    def renew_certificates(self) -> None:
        """Reads the files of all listeners with TLS again."""
        ...

    def when_unusable(self, call: Callable[[StorageUnusable], None]) -> None:
        """Calls when the broker cannot go on with its data."""
        ...

    def when_fenced(self, call: Callable[[], None]) -> None:
        """Calls when other brokers have taken the place of this one: it must start again."""
        ...

    async def loaded(self) -> None:
        """Waits until clients may connect."""
        ...

    async def join(self) -> None:
        """Joins the brokers that share the store, after the listeners."""
        ...

    def start_upkeep(self) -> None:
        """Starts background jobs, after the listeners."""
        ...

    async def drain(self, timeout_seconds: float) -> bool:
        """Closes listeners, completes requests in flight, ends connections; False: not in time."""
        ...

    def close(self) -> None: ...


Build = Callable[[Settings, asyncio.AbstractEventLoop, EventLog], Container]


def run(settings: Settings, ready_file: Path | None, build: Build) -> int:
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    _raise_file_limit()
    log_format = settings.broker.log_format or ("console" if sys.stderr.isatty() else "json")
    with event_log(sys.stderr.buffer, log_format, LOG_PATIENCE_SECONDS) as log:
        code = _run(settings, ready_file, build, log_format, log)
    if code == FENCED:
        # Nothing of what it knew is true any more.
        os.environ[_WAS_FENCED] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return code


def _run(
    settings: Settings, ready_file: Path | None, build: Build, log_format: str, log: EventLog
) -> int:
    for warning in settings.warnings:
        log.warning("setting_without_effect", detail=warning)

    was_fenced = os.environ.pop(_WAS_FENCED, None) is not None
    came: list[int] = []

    def announce(started: Started) -> None:
        if log_format == "console" and sys.stderr.isatty():
            print(banner(started), file=sys.stderr, flush=True)
        else:
            _log_started(log, started)

    def renewing(settings: Settings, loop: asyncio.AbstractEventLoop, log: EventLog) -> Container:
        container = build(settings, loop, log)
        if any(one.protocol.needs_tls for one in settings.all_security.values()):
            _renew_on_hangup(loop, container)
        return container

    async def main() -> int:
        stop = _stop_on_signals(asyncio.get_running_loop(), log, came)
        return await serve(settings, log, renewing, stop, announce, ready_file)

    pause_s = 0.0
    try:
        with asyncio.Runner(loop_factory=_new_event_loop) as runner:
            code = runner.run(main())
    except CannotStart as failure:
        print(f"ottla: {failure}", file=sys.stderr)
        if not was_fenced:
            return 1
        code, pause_s = FENCED, _TRY_AGAIN_SECONDS  # what it was cut off from may still be away
    if code == FENCED:
        _end_on_signals()
        if came:  # after the loop's last pass
            return 0
        time.sleep(pause_s)
    return code


async def serve(
    settings: Settings,
    log: EventLog,
    build: Build,
    stop: asyncio.Event,
    announce: Callable[[Started], None],
    ready_file: Path | None = None,
) -> int:
    """Runs until `stop` is set; the process's exit code."""
    if ready_file is not None:
        _write(ready_file, lambda: remove_ready_file(ready_file))
    ports = Ports(settings, log)
    try:
        container = _build(settings, log, build)
    except CannotStart:
        ports.close()
        raise
    failures: list[StorageUnusable] = []

    def unusable(failure: StorageUnusable) -> None:
        failures.append(failure)
        stop.set()

    fenced = asyncio.Event()

    def start_again() -> None:
        if not stop.is_set():
            fenced.set()
            stop.set()

    container.when_unusable(unusable)
    container.when_fenced(start_again)
    try:
        started = await _start(settings, container, ports)
        _collect_rarely()
        if ready_file is not None:
            _write(ready_file, lambda: write_ready_file(ready_file, started))
        announce(started)
        notify("READY=1")
        await stop.wait()
        notify("STOPPING=1")
        if ready_file is not None:
            remove_ready_file(ready_file)
        if not fenced.is_set():  # it could respond nothing that is true
            await _drain(container, settings.broker.drain_timeout_ms / 1000, log)
    finally:
        closed = _close(container, log)
        ports.close()
    if fenced.is_set():
        return FENCED
    if failures:
        raise _cannot_keep_offsets(settings, failures[0])
    if closed:
        log.info("broker_stopped")
    return 0 if closed else 1


def _collect_rarely() -> None:
    """Requests leave no cycles, and objects of the start live for ever: docs/internals/adr/0004."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)


def _build(settings: Settings, log: EventLog, build: Build) -> Container:
    try:
        return build(settings, asyncio.get_running_loop(), log)
    except OffsetsUnusable as failure:
        raise _cannot_keep_offsets(settings, failure) from failure
    except TlsUnusable as failure:
        raise CannotStart(str(failure)) from failure
    except (StorageFailed, StorageUnusable, OSError) as failure:
        shown = settings.storage.shown
        raise CannotStart(f"cannot open {shown}: {reason_of(failure)}") from failure


def _cannot_keep_offsets(settings: Settings, failure: StorageUnusable) -> CannotStart:
    return CannotStart(
        f"cannot keep committed offsets in {settings.offsets.shown or settings.storage.shown}: "
        f"{reason_of(failure)}"
    )


async def _start(settings: Settings, container: Container, ports: Ports) -> Started:
    await container.loaded()
    for listener, sockets in zip(container.listeners, ports.kafka, strict=True):
        await listener.start(sockets)
    raw = []
    for listener, sockets in zip(container.raw_listeners, ports.raw, strict=True):
        await listener.start(sockets)
        raw.append(host_port(sockets.host, sockets.port))
    admin = [host_port(*container.admin.open(sockets)) for sockets in ports.admin]
    await container.join()
    container.start_upkeep()
    is_announced = bool(container.brokers)
    opened = [
        OpenListener(address, one.host, one.port, settings.broker, is_announced=is_announced)
        for address, one in zip(settings.listeners, ports.kafka, strict=True)
    ]
    return Started(
        settings,
        __version__,
        container.cluster_id,
        opened,
        container.recovered,
        admin,
        raw,
        container.brokers,
        container.has_standby,
    )


def _write(path: Path, action: Callable[[], None]) -> None:
    try:
        action()
    except OSError as failure:
        raise CannotStart(f"cannot write the ready file {path}: {reason_of(failure)}") from failure


async def _drain(container: Container, timeout_seconds: float, log: EventLog) -> None:
    if not await container.drain(timeout_seconds):
        log.warning("drain_timed_out", waited_seconds=timeout_seconds)


def _close(container: Container, log: EventLog) -> bool:
    try:
        container.close()
    except StorageFailed as failure:
        log.error("storage_close_failed", error=failure)
        return False
    return True


def _stop_on_signals(
    loop: asyncio.AbstractEventLoop, log: EventLog, came: list[int]
) -> asyncio.Event:
    """The first signal drains; a second one kills. `came` has it also if the loop is busy to its
    end, and never handles it.
    """
    stop = asyncio.Event()

    def first(number: int) -> None:
        if stdin_ended.is_set():
            log.info("broker_stopping", reason="stdin_ended")
        else:
            log.info("broker_stopping", signal=signal.Signals(number).name)
        stop.set()

    def handle(number: int, _frame: object) -> None:
        _end_on_signals()
        came.append(number)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(first, number)

    for each in _SIGNALS:
        signal.signal(each, handle)
    return stop


def _end_on_signals() -> None:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_DFL)


def _renew_on_hangup(loop: asyncio.AbstractEventLoop, container: Container) -> None:
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, container.renew_certificates)


def _log_started(log: EventLog, started: Started) -> None:
    for risk in started.risks():
        log.warning("startup_warning", reason=risk.reason, detail=risk.detail)
    sometimes: dict[str, object] = {}
    if started.admin:
        sometimes["admin"] = started.admin_urls
    if started.raw:
        sometimes["raw"] = started.raw
    if started.brokers:
        sometimes["brokers"] = started.brokers
    if not started.settings.storage.in_memory:
        sometimes["flush"] = started.settings.broker.flush
    if started.has_standby is not None:
        sometimes["synchronous_standby"] = started.has_standby
    if started.settings.offsets.shown is not None:
        sometimes["offsets"] = started.settings.offsets.shown
    if started.settings.file is not None:
        sometimes["settings"] = str(started.settings.file)
    log.info(
        "broker_started",
        version=started.version,
        cluster_id=started.cluster_id,
        listeners=[_in_words(each, started.settings) for each in started.listeners],
        storage=started.storage,
        recovered=started.recovered,
        **sometimes,
    )


def _in_words(listener: OpenListener, settings: Settings) -> str:
    name = listener.address.name
    protocol = settings.security[name].protocol.value
    named = "" if protocol == name else f" ({protocol})"
    return f"{name}://{listener.bound} -> {listener.advertised or 'as connected'}{named}"


def _new_event_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _raise_file_limit() -> None:
    """The soft limit is often 1024; each connection is a file."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):
            return
