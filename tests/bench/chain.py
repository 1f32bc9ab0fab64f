"""A request from the received bytes to the response, through everything but the sockets."""

from __future__ import annotations

import gc
import shutil
import time
from pathlib import Path

from application.ports.event_log import EventLog
from infrastructure.observability.request_log import StructuredRequestLog
from tests.fakes.client import FakeClient, InProcessKafka, frame
from tests.fakes.logs import FakeEventLog
from tests.fakes.requests import fetch, produce

CONNECTIONS = 10
_PASSES = 100


def measure(cache: Path, quick: bool) -> dict[str, float]:
    return _produced(cache, quick) | _fetched(cache, quick)


def _produced(cache: Path, quick: bool) -> dict[str, float]:
    """Microseconds of CPU per request of 1 KB, ten connections in a pass, best of several."""
    folder = cache / "chain"
    shutil.rmtree(folder, ignore_errors=True)
    kafkas = {
        "memory": InProcessKafka(),
        "lmdb, flush=os": InProcessKafka(f"lmdb://{folder}/plain"),
        # Enabled, so every request is timed; none fails, so no line is written.
        "lmdb, flush=os, request log of errors": InProcessKafka(
            f"lmdb://{folder}/logged", _request_log(FakeEventLog(), "errors")
        ),
        "lmdb, flush=os, request log of all": InProcessKafka(
            f"lmdb://{folder}/all", _request_log(Unwritten(), "all")
        ),
    }
    runs = {name: Run(kafka) for name, kafka in kafkas.items()}
    best = dict.fromkeys(runs, float("inf"))
    gc.collect()
    gc.freeze()
    for _ in range(5 if quick else 25):
        for name, run in runs.items():
            best[name] = min(best[name], run.passes(_PASSES))
    gc.unfreeze()
    for kafka in kafkas.values():
        kafka.close()
    shutil.rmtree(folder, ignore_errors=True)
    return {f"produce without sockets: {name}": us for name, us in best.items()}


def _fetched(cache: Path, quick: bool) -> dict[str, float]:
    """Microseconds of CPU per fetch that does not wait, best of several."""
    folder = cache / "chain"
    shutil.rmtree(folder, ignore_errors=True)
    results = {}
    for engine, storage in (("memory", "memory://"), ("lmdb", f"lmdb://{folder}/fetched")):
        kafka = InProcessKafka(storage)
        kafka.topic("t")
        client = kafka.client()
        for _ in range(64):
            client.request(produce("x" * 16_000), 9)
        for size, max_bytes in (("16 KB", 17_000), ("1 MB", 1 << 20)):
            request = fetch()
            request.max_bytes = max_bytes
            request.topics[0].partitions[0].partition_max_bytes = max_bytes
            name = f"fetch of {size} without sockets: {engine}"
            results[name] = _fetches_us(kafka, client, frame(request, 12), 2 if quick else 10)
        kafka.close()
    shutil.rmtree(folder, ignore_errors=True)
    return results


def _fetches_us(kafka: InProcessKafka, client: FakeClient, request: bytes, times: int) -> float:
    size_bytes = len(request)
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        for _ in range(_PASSES):
            client.session.get_buffer(-1)[:size_bytes] = request
            client.session.buffer_updated(size_bytes)
            kafka.run()
            assert client.transport.taken
            client.transport.taken.clear()
        best = min(best, time.process_time() - started)
    return best / _PASSES * 1e6


def _request_log(events: EventLog, mode: str) -> StructuredRequestLog:
    return StructuredRequestLog(events, mode, 1000, 1)


class Unwritten:
    """An event log that drops its lines: measures the cost of making them."""

    def info(self, event: str, **fields: object) -> None:
        pass

    warning = error = info


class Run:
    def __init__(self, kafka: InProcessKafka) -> None:
        self._kafka = kafka
        self._clients = [kafka.client() for _ in range(CONNECTIONS)]
        kafka.topic("t")
        self._frame = frame(produce("x" * 1000), 9)

    def passes(self, count: int) -> float:
        request, clients, kafka = self._frame, self._clients, self._kafka
        size_bytes = len(request)
        started = time.process_time()
        for _ in range(count):
            for client in clients:
                # As the loop does it: checks of the fake transport would be a quarter of the cost.
                client.session.get_buffer(-1)[:size_bytes] = request
                client.session.buffer_updated(size_bytes)
            kafka.run()
            for client in clients:
                client.transport.taken.clear()
        return (time.process_time() - started) / (count * len(clients)) * 1e6
