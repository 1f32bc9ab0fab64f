"""Where should a commit with fsync run: on the loop, or in a thread of its own?

    python -m tests.bench.commit_where [--seconds 3] [--folder DIR]

A server of a few lines takes frames over real sockets, stores them in LMDB with one commit per
pass, and answers. On the loop it stages and commits at the end of the pass; with a thread, frames
are copied and handed over, the thread stages and commits, and the loop gathers the next pass
meanwhile. Another connection sends pings that need no storage: what do they wait? The result is
docs/adr/0002-commits-run-on-the-loop.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import queue
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.commit import WritePass
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.log_store import LmdbLogStore

ANSWER = b"answered"
PING, PRODUCE = b"?", b"!"
PARTITIONS = 10

#: Connections, frames in flight on each, bytes in a frame.
LOADS = [(1, 1, 1024), (10, 1, 1024), (10, 5, 1024), (50, 2, 1024), (4, 5, 16384)]


class OnLoop:
    """Staged as it arrives; committed when the pass over all connections is over."""

    def __init__(self, environment: LmdbEnvironment, loop: asyncio.AbstractEventLoop) -> None:
        self._pass = WritePass(environment)
        self._log = LmdbLogStore(environment, self._pass)
        self._loop = loop
        self._waiting: list[Callable[[bytes], None]] = []
        self._next_offset = 0

    def produce(self, batch: memoryview, answer: Callable[[bytes], None]) -> None:
        if not self._waiting:
            self._loop.call_soon(self._commit)
        self._log.append(self._next_offset % PARTITIONS, self._next_offset, batch)
        self._next_offset += 1
        self._waiting.append(answer)

    def _commit(self) -> None:
        assert self._pass.commit() is None
        waiting, self._waiting = self._waiting, []
        for answer in waiting:
            answer(ANSWER)


class InThread:
    """Copied as it arrives; staged and committed by one thread, one pass at a time."""

    def __init__(self, environment: LmdbEnvironment, loop: asyncio.AbstractEventLoop) -> None:
        self._pass = WritePass(environment)
        self._log = LmdbLogStore(environment, self._pass)
        self._loop = loop
        self._gathered: list[tuple[int, bytes]] = []
        self._waiting: list[Callable[[bytes], None]] = []
        self._answering: list[Callable[[bytes], None]] = []
        self._next_offset = 0
        self._under_way = False
        self._passes: queue.SimpleQueue[list[tuple[int, bytes]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def produce(self, batch: memoryview, answer: Callable[[bytes], None]) -> None:
        if not self._gathered and not self._under_way:
            self._loop.call_soon(self._begin)
        self._gathered.append((self._next_offset, bytes(batch)))
        self._next_offset += 1
        self._waiting.append(answer)

    def _begin(self) -> None:
        self._under_way = True
        self._answering, self._waiting = self._waiting, []
        gathered, self._gathered = self._gathered, []
        self._passes.put(gathered)

    def _write(self) -> None:
        while True:
            for offset, batch in self._passes.get():
                self._log.append(offset % PARTITIONS, offset, batch)
            assert self._pass.commit() is None
            self._loop.call_soon_threadsafe(self._done)

    def _done(self) -> None:
        self._under_way = False
        for answer in self._answering:
            answer(ANSWER)
        if self._gathered:
            self._begin()


class Session(asyncio.BufferedProtocol):
    def __init__(self, store: OnLoop | InThread, frame_bytes: int) -> None:
        self._store = store
        self._frame_bytes = frame_bytes
        self._buffer = bytearray(1 << 18)
        self._view = memoryview(self._buffer)
        self._filled = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport) or hasattr(transport, "write")
        self._write: Callable[[bytes], None] = transport.write

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._view[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        start = 0
        while self._filled - start >= self._frame_bytes:
            frame = self._view[start : start + self._frame_bytes]
            if frame[:1] == PING:
                self._write(ANSWER)
            else:
                self._store.produce(frame, self._write)
            start += self._frame_bytes
        if start:
            rest = self._filled - start
            self._buffer[:rest] = self._buffer[start : self._filled]
            self._filled = rest


def serve(folder: str, flush: Flush, where: str, frame_bytes: int, pipe: Connection) -> None:
    sys.setswitchinterval(0.0005)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        environment = LmdbEnvironment(Path(folder), flush)
        store = (OnLoop if where == "loop" else InThread)(environment, loop)
        server = await loop.create_server(lambda: Session(store, frame_bytes), "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        stop = loop.create_future()
        loop.add_reader(pipe.fileno(), lambda: stop.done() or stop.set_result(None))
        started = _cpu_s()
        await stop
        loop.remove_reader(pipe.fileno())
        pipe.send(_cpu_s() - started)

    _event_loop_run(run())


def _event_loop_run(main: object) -> None:
    try:
        import uvloop

        uvloop.run(main)
    except ImportError:
        asyncio.run(main)  # type: ignore[arg-type]


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Client(asyncio.Protocol):
    """Keeps so many frames in flight until the end, and notes how long each took."""

    def __init__(self, frame: bytes, in_flight: int, ends: float, pause_s: float = 0) -> None:
        self.frame, self.in_flight, self.ends, self.pause_s = frame, in_flight, ends, pause_s
        self.sent: list[float] = []
        self.took_s: list[float] = []
        self.received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.write: Callable[[bytes], None] = transport.write  # type: ignore[attr-defined]
        for _ in range(self.in_flight):
            self.send()

    def send(self) -> None:
        self.sent.append(time.perf_counter())
        self.write(self.frame)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self.received += len(data)
        while len(self.took_s) < self.received // len(ANSWER):
            self.took_s.append(now - self.sent[len(self.took_s)])
            if now < self.ends:
                if self.pause_s:
                    asyncio.get_running_loop().call_later(self.pause_s, self.send)
                else:
                    self.send()


async def load(port: int, connections: int, in_flight: int, size: int, seconds: float) -> dict:
    loop = asyncio.get_running_loop()
    ends = time.perf_counter() + seconds
    clients = [Client(PRODUCE * size, in_flight, ends) for _ in range(connections)]
    pinger = Client(PING * size, 1, ends, pause_s=0.003)
    for client in [*clients, pinger]:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)
    await asyncio.sleep(seconds + 0.2)
    took_us = sorted(1e6 * t for client in clients for t in client.took_s)
    pings_us = sorted(1e6 * t for t in pinger.took_s)
    return {
        "requests_per_s": round(len(took_us) / seconds),
        "p50_us": round(statistics.median(took_us)),
        "p99_us": round(took_us[len(took_us) * 99 // 100]),
        "ping_p50_us": round(statistics.median(pings_us)),
        "ping_p99_us": round(pings_us[len(pings_us) * 99 // 100]),
    }


def measure(
    folder: Path, flush: Flush, where: str, shape: tuple[int, int, int], seconds: float
) -> dict:
    ours, theirs = multiprocessing.Pipe()
    with tempfile.TemporaryDirectory(dir=folder) as store:
        context = multiprocessing.get_context("spawn")
        server = context.Process(target=serve, args=(store, flush, where, shape[2], theirs))
        server.start()
        result = asyncio.run(load(ours.recv(), *shape, seconds))
        ours.send("stop")
        result["cpu_us_per_request"] = round(
            ours.recv() * 1e6 / (result["requests_per_s"] * seconds), 1
        )
        server.terminate()
        server.join()
    return result


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    options.add_argument("--seconds", type=float, default=3.0)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--folder", type=Path, default=Path("."))
    options.add_argument("--flush", choices=["commit", "os"], default="commit")
    chosen = options.parse_args()
    for shape in LOADS:
        for where in ("loop", "thread") * chosen.rounds:
            result = measure(chosen.folder, chosen.flush, where, shape, chosen.seconds)
            print(json.dumps({"load": shape, "where": where, **result}), flush=True)


if __name__ == "__main__":
    main()
