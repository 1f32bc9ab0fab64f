"""The worker process: searches or compacts logs until the broker closes the socket.

It reads an LMDB log itself, which costs the broker nothing, and requests any other log from the
broker.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import sys
from contextlib import suppress
from functools import partial

from application.partitions.cleaning import CleaningEnd, CleaningJob
from application.ports.log_store import LogStore
from application.records.plan import ScanEnd, ScanPlan
from application.records.scan import TIME, Scan
from application.records.writing import LineWriter
from domain.errors import BrokerError, StorageFailed
from domain.messages.batch import HEADER_BYTES
from infrastructure.clock import SystemClock
from infrastructure.codecs.compression import BatchCompression
from infrastructure.scanning import frames
from infrastructure.scanning.cleaning import clean
from infrastructure.scanning.frames import frame
from infrastructure.scanning.parquet import ParquetWriter

#: Where the system has no idle scheduling class.
NICENESS = 19
OUTPUT_BYTES = 64 * 1024
STEPS_PER_LOOK = 16

Writer = LineWriter | ParquetWriter


class AskedLogStore:
    """The broker's log over the socket; a scan needs no more of it."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        question = (partition_id, offset, end_offset, max_bytes, whole_first)
        return self._channel.ask(frames.READ, frames.READ_QUESTION.pack(*question))

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        question = frames.HEADERS_QUESTION.pack(partition_id, offset, limit)
        data = self._channel.ask(frames.HEADERS, question)
        return [data[at : at + HEADER_BYTES] for at in range(0, len(data), HEADER_BYTES)]

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        question = frames.TIME_QUESTION.pack(partition_id, timestamp)
        (offset,) = frames.OFFSET.unpack(self._channel.ask(frames.TIME, question))
        return int(offset)


class Channel:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def receive(self) -> tuple[int, bytes]:
        """Raises EOFError when the broker is gone."""
        kind, length = frames.HEAD.unpack(self._exactly(frames.HEAD.size))
        return kind, self._exactly(length)

    def _exactly(self, size_bytes: int) -> bytes:
        data = bytearray(size_bytes)
        view = memoryview(data)
        while view:
            count = self._connection.recv_into(view)
            if not count:
                raise EOFError
            view = view[count:]
        return bytes(data)

    def send(self, kind: int, content: bytes = b"") -> None:
        self._connection.sendall(frame(kind, content))

    def check(self, wait_seconds: float = 0) -> None:
        """Waits only so long; raises EOFError if the broker is gone."""
        # Not select(): the descriptor has the number of the broker, which may be above 1023.
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        if poll.poll(wait_seconds * 1000) and not self._connection.recv(1, socket.MSG_PEEK):
            raise EOFError

    def ask(self, kind: int, question: bytes) -> bytes:
        self.send(kind, question)
        answer, content = self.receive()
        if answer == frames.FAILURE:
            raise StorageFailed(content.decode())
        return content


def run(plan: ScanPlan, log: LogStore, channel: Channel) -> ScanEnd:
    writer = _writer(plan)
    scan = Scan(plan, log, BatchCompression(), writer.take)
    end = _end_of(scan, plan.budget_ms, writer, channel)
    channel.send(frames.OUTPUT, writer.finish())
    return end


def _end_of(scan: Scan, budget_ms: int | None, writer: Writer, channel: Channel) -> ScanEnd:
    clock = SystemClock()
    began_ms = clock.monotonic_ms()
    for number, _ in enumerate(scan.steps()):
        if number % STEPS_PER_LOOK:
            continue
        channel.check()  # a scan without results would not notice the end otherwise
        if writer.waiting_bytes >= OUTPUT_BYTES:
            channel.send(frames.OUTPUT, writer.drain())
        passed_ms = clock.monotonic_ms() - began_ms
        if budget_ms is not None and passed_ms >= budget_ms and scan.has_moved:
            return scan.end(TIME)
    return scan.end(scan.reason())


def _writer(plan: ScanPlan) -> Writer:
    if plan.form == "parquet":
        return ParquetWriter()
    return LineWriter(plan.form, plan.data_format, plan.begun)


def serve(channel: Channel, store: str | None) -> None:
    log: LogStore | None = None
    goes_last = False
    while True:
        kind, content = channel.receive()
        assert kind == frames.JOB, kind
        plan: ScanPlan | CleaningJob = pickle.loads(content)
        if not plan.is_urgent and not goes_last:
            _let_the_broker_go_first()
            goes_last = True
        try:
            if log is None:
                log = _log(channel, store)
            end: ScanEnd | CleaningEnd
            if isinstance(plan, ScanPlan):
                end = run(plan, log, channel)
            else:
                end = clean(plan, log, channel.check, partial(channel.send, frames.OUTPUT))
        except BrokerError as failure:
            # The problem may be this process: the next scan gets a new one.
            channel.send(frames.ERROR, failure.message.encode())
            return
        else:
            channel.send(frames.END, pickle.dumps(end))


def _log(channel: Channel, store: str | None) -> LogStore:
    if store is None:
        return AskedLogStore(channel)  # type: ignore[return-value]
    from infrastructure.opening import folder_of

    return folder_of(store).open_log()


def _let_the_broker_go_first() -> None:
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            return
    os.nice(NICENESS)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the broker handles them
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    store = sys.argv[2] if len(sys.argv) > 2 else None
    with suppress(EOFError, ConnectionError):
        serve(channel, store)


if __name__ == "__main__":
    main()
