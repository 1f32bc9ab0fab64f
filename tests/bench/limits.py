"""What the machine can do, for scale: memory, loopback, disk. Best or median of a few."""

from __future__ import annotations

import multiprocessing
import os
import socket
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.gauges import Figures

_MB = 1 << 20
_ROUND_TRIPS = 5_000
_STREAMED_MB = 1024
_WRITTEN_MB = 512


def measure(folder: Path, quick: bool) -> Figures:
    folder.mkdir(parents=True, exist_ok=True)
    share = 4 if quick else 1
    round_trips = _round_trips_us(_ROUND_TRIPS // share)
    syncs = _fsyncs_us(folder / "synced", 1000 // share)
    return {
        "memcpy_gb_per_s": _memcpy_gb_per_s(),
        "loopback_round_trip_p50_us": round_trips[len(round_trips) // 2],
        "loopback_mb_per_s": _loopback_mb_per_s(_STREAMED_MB // share),
        "fsync_p50_us": syncs[len(syncs) // 2],
        "fsync_p99_us": syncs[int(len(syncs) * 0.99)],
        "page_cache_write_mb_per_s": statistics.median(
            _page_cache_mb_per_s(folder / "written", _WRITTEN_MB // share) for _ in range(3)
        ),
    }


def _memcpy_gb_per_s() -> float:
    source, target = bytearray(64 * _MB), memoryview(bytearray(64 * _MB))
    target[:] = source
    best = float("inf")
    for _ in range(10):
        started = time.perf_counter()
        target[:] = source
        best = min(best, time.perf_counter() - started)
    return len(source) / best / 1e9


def _round_trips_us(count: int) -> list[float]:
    times = []
    with _peer(_echo) as connection:
        for _ in range(count):
            started = time.perf_counter_ns()
            connection.sendall(bytes(64))
            assert len(connection.recv(64)) == 64
            times.append((time.perf_counter_ns() - started) / 1000)
    return sorted(times)


def _loopback_mb_per_s(mb: int) -> float:
    piece = bytes(_MB)
    with _peer(_sink) as connection:
        started = time.perf_counter()
        for _ in range(mb):
            connection.sendall(piece)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)  # the end, when all of it was read
        return mb * _MB / 1e6 / (time.perf_counter() - started)


def _peer(serve: Callable[[socket.socket], None]) -> socket.socket:
    """A connection to `serve`, in another process."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with connection:
                serve(connection)

        multiprocessing.get_context("fork").Process(target=accept, daemon=True).start()
        connection = socket.create_connection(server.getsockname())
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _echo(connection: socket.socket) -> None:
    while piece := connection.recv(64):
        connection.sendall(piece)


def _sink(connection: socket.socket) -> None:
    buffer = bytearray(_MB)
    while connection.recv_into(buffer):
        pass


def _fsyncs_us(file: Path, count: int) -> list[float]:
    times = []
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        for _ in range(count):
            started = time.perf_counter_ns()
            os.write(descriptor, bytes(4096))
            os.fdatasync(descriptor)
            times.append((time.perf_counter_ns() - started) / 1000)
    finally:
        os.close(descriptor)
        file.unlink()
    return sorted(times)


def _page_cache_mb_per_s(file: Path, mb: int) -> float:
    piece = os.urandom(_MB)
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    try:
        started = time.perf_counter()
        for _ in range(mb):
            os.write(descriptor, piece)
        return mb * _MB / 1e6 / (time.perf_counter() - started)
    finally:
        os.close(descriptor)
        file.unlink()
