"""WorkerProcesses: processes for scans or compaction, started on demand and ended when idle.

A worker does one job at a time. Broker and worker share a socket, so that each notices the end of
the other. A cancelled job ends with its process.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from application.background.worker import WorkerPart
from application.ports.event_log import EventLog
from application.ports.log_store import LogStore, NotInMemory
from application.ports.pending import Pending, resolved
from application.records.plan import ScanPlan
from domain.errors import StorageFailed
from infrastructure.scanning import frames
from infrastructure.scanning.frames import frame
from infrastructure.storage.engine import Storage

#: Further scans wait, or go on in slices on the loop. One worker is reserved for scans with a time
#: limit: the others last as long as their clients read.
MAX_PROCESSES = 4
IDLE_SECONDS = 60.0
#: Output that is buffered for the client.
BUFFERED_BYTES = 512 * 1024
REAP_SECONDS = 0.05
#: After a process could not be started, until the next attempt.
RETRY_SECONDS = 1.0

if TYPE_CHECKING:
    from application.partitions.cleaning import CleaningJob

    Plan = ScanPlan | CleaningJob

_PROGRAM = f"{__package__}.process"
_SOCKET_BYTES = 512 * 1024


class WorkerProcesses:
    """Satisfies `application.records.scan_worker.ScanWorkers`, and
    `application.partitions.cleaning.CleaningWorkers`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        storage: Storage,
        events: EventLog,
        most: int = MAX_PROCESSES,
    ) -> None:
        self._loop = loop
        self._events = events
        #: The URL, unless the store is in memory: workers read it themselves.
        self._url = _url_of(storage)
        self._storage = storage
        self._most = most
        self._processes: list[WorkerProcess] = []
        #: Killed, and not reaped yet.
        self._ended: list[WorkerProcess] = []
        self._closed = False
        #: On the loop's clock.
        self._not_before = 0.0

    @property
    def pids(self) -> list[int]:
        return [each.pid for each in self._processes]

    @property
    def has_idle(self) -> bool:
        return any(each.job is None for each in self._processes)

    def start(self, plan: Plan, log: LogStore) -> RunningJob | None:
        if self._closed:
            return None
        if plan.budget_ms is None and not self._has_room_for_long_ones():
            return None
        for process in [each for each in self._processes if each.job is None]:
            if not (plan.is_urgent and process.goes_last):
                return process.begin(plan, log)
            process.end()  # to raise a priority takes a privilege
        if len(self._processes) >= self._most or self._loop.time() < self._not_before:
            return None
        self._ended = [each for each in self._ended if not each.is_gone]
        try:
            process = WorkerProcess(self._loop, self._url, self._end_of, self._reaped)
        except OSError as failure:
            self._not_before = self._loop.time() + RETRY_SECONDS
            self._events.warning("scan_worker_failed", error=str(failure))
            return None
        self._processes.append(process)
        return process.begin(plan, log)

    def _has_room_for_long_ones(self) -> bool:
        running = [each.job for each in self._processes if each.job is not None]
        return sum(job.is_long for job in running) < max(self._most - 1, 1)

    def close(self) -> None:
        self._closed = True
        for process in list(self._processes):
            process.end()
        for process in self._ended:
            process.reap(wait=True)

    def _end_of(self, process: WorkerProcess) -> None:
        self._processes.remove(process)
        self._ended.append(process)

    def _reaped(self) -> None:
        # The slot of a killed reader would keep freed pages from being reused.
        if self._storage.remove_killed_readers is not None:
            self._storage.remove_killed_readers()


class WorkerProcess(asyncio.Protocol):
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        url: str | None,
        gone: Callable[[WorkerProcess], None],
        reaped: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._reaped = reaped
        self._gone: Callable[[WorkerProcess], None] | None = gone
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._reads = True
        self._idle: asyncio.TimerHandle | None = None
        self._log: LogStore | None = None
        self.job: RunningJob | None = None
        #: With the lowest priority, since its first job that is not urgent.
        self.goes_last = False
        #: Reaped.
        self.is_gone = False
        ours, theirs = socket.socketpair()
        self._ours = ours
        try:
            for end in (ours, theirs):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BYTES)
            ours.setblocking(False)
            self._process = _spawn(theirs, url)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self._connecting = loop.create_task(loop.create_unix_connection(lambda: self, sock=ours))

    @property
    def pid(self) -> int:
        return self._process.pid

    def begin(self, plan: Plan, log: LogStore) -> RunningJob:
        import pickle  # most brokers never need it

        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        self._log = log
        self.goes_last = self.goes_last or not plan.is_urgent
        self.job = running = RunningJob(self, plan)
        self._send(frame(frames.JOB, pickle.dumps(plan)))
        return running

    def end(self) -> None:
        """Kills it: it has no state to clean up."""
        if self._gone is None:
            return
        gone, self._gone = self._gone, None
        gone(self)
        if self._idle is not None:
            self._idle.cancel()
        self._process.kill()
        self._connecting.cancel()
        if self._transport is not None:
            self._transport.abort()
        else:
            self._ours.close()
        job, self.job = self.job, None
        if job is not None:
            job.ended(StorageFailed("The worker process has ended"))
        self.reap()

    def reap(self, wait: bool = False) -> None:
        if self.is_gone:
            return
        if wait:
            self._process.wait()
        elif self._process.poll() is None:
            self._loop.call_later(REAP_SECONDS, self.reap)
            return
        self.is_gone = True
        self._reaped()

    # ---- the socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no asyncio.Transport, though they do the same.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.writelines(self._unsent)
        self._unsent.clear()

    def connection_lost(self, failure: Exception | None) -> None:
        self._transport = None
        self.end()

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        head = frames.HEAD.size
        at = 0
        while len(received) - at >= head:
            kind, length = frames.HEAD.unpack_from(received, at)
            if len(received) - at - head < length:
                break
            content = bytes(memoryview(received)[at + head : at + head + length])
            at += head + length
            self._handle(kind, content)
        del received[:at]

    def read_on(self, go_on: bool) -> None:
        if self._transport is not None and go_on != self._reads:
            self._reads = go_on
            if go_on:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _send(self, data: bytes) -> None:
        if self._transport is None:
            self._unsent.append(data)
        else:
            self._transport.write(data)

    def _handle(self, kind: int, content: bytes) -> None:
        if kind in (frames.READ, frames.HEADERS, frames.TIME):
            self._answer(kind, content)
            return
        job = self.job
        if job is None:
            return
        if kind == frames.OUTPUT:
            job.add(content)
            return
        import pickle

        self.job = None
        self.read_on(True)  # also if the client of this job was slow: the next job needs it
        self._idle = self._loop.call_later(IDLE_SECONDS, self.end)
        end: Any = pickle.loads(content) if kind == frames.END else StorageFailed(content.decode())
        job.ended(end)

    def _answer(self, kind: int, question: bytes) -> None:
        assert self._log is not None
        try:
            data = _asked(self._log, kind, question)
        except StorageFailed as failure:
            self._send(frame(frames.FAILURE, failure.message.encode()))
        except NotInMemory as later:
            later.loading.then(lambda _: self._answer(kind, question))
        else:
            self._send(frame(frames.DATA, data))


class RunningJob:
    """Satisfies `application.background.worker.RunningWork`."""

    def __init__(self, process: WorkerProcess, plan: Plan) -> None:
        self._process = process
        #: Without a time limit.
        self.is_long = plan.budget_ms is None
        self._data = bytearray()
        self._end: Any = None
        self._part_request: Pending[WorkerPart[Any]] | None = None
        self._over = False

    def next(self) -> Pending[WorkerPart[Any]]:
        if self._data or self._end is not None:
            return resolved(self._part())
        self._part_request = Pending()
        return self._part_request

    def close(self) -> None:
        self._part_request = None
        if not self._over:
            self._over = True
            self._process.end()

    def add(self, data: bytes) -> None:
        self._data += data
        if self._part_request is not None:
            self._tell()
        elif len(self._data) >= BUFFERED_BYTES:
            self._process.read_on(False)

    def ended(self, end: Any) -> None:
        self._over = True
        self._end = end
        if self._part_request is not None:
            self._tell()

    def _tell(self) -> None:
        request, self._part_request = self._part_request, None
        assert request is not None
        request.resolve(self._part())

    def _part(self) -> WorkerPart[Any]:
        data = bytes(self._data)
        self._data.clear()
        if not self._over:
            self._process.read_on(True)
        return WorkerPart(data, self._end)


def _asked(log: LogStore, kind: int, question: bytes) -> bytes:
    if kind == frames.READ:
        return log.read(*frames.READ_QUESTION.unpack(question))
    if kind == frames.HEADERS:
        return b"".join(log.headers(*frames.HEADERS_QUESTION.unpack(question)))
    return frames.OFFSET.pack(log.at_timestamp(*frames.TIME_QUESTION.unpack(question)))


def _url_of(storage: Storage) -> str | None:
    path = storage.info.path
    if storage.reserve is not None and storage.reserve.is_read_only:
        return None  # its rows are in a folder of this process
    return None if path is None else f"{storage.info.kind}://{os.path.abspath(path)}"


def _spawn(theirs: socket.socket, url: str | None) -> subprocess.Popen[bytes]:
    descriptor = theirs.fileno()
    arguments = [sys.executable, "-P", "-m", _PROGRAM, str(descriptor)]
    if url is not None:
        arguments.append(url)
    return subprocess.Popen(
        arguments,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[descriptor],
        start_new_session=True,
    )
