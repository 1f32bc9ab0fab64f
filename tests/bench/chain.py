"""A produce request from the received bytes to the answer, through everything but the sockets."""

from __future__ import annotations

import gc
import shutil
import time
from pathlib import Path

from application.ports.event_log import EventLog
from infrastructure.observability.request_log import StructuredRequestLog
from tests.fakes.client import InProcessKafka, frame
from tests.fakes.logs import FakeEventLog
from tests.fakes.requests import produce

CONNECTIONS = 10
_PASSES = 100


def measure(cache: Path, quick: bool) -> dict[str, float]:
    """Microseconds of CPU a request of 1 KB, ten connections to a pass, best of several."""
    folder = cache / "chain"
    shutil.rmtree(folder, ignore_errors=True)
    kafkas = {
        "memory": InProcessKafka(),
        "lmdb, flush=os": InProcessKafka(f"lmdb://{folder}/plain"),
        # Enabled, so that times are taken for every request; none fails, so none is written.
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
    return {f"produce without sockets: {name}": us for name, us in best.items()}


def _request_log(events: EventLog, mode: str) -> StructuredRequestLog:
    return StructuredRequestLog(events, mode, 1000, 1)


class Unwritten:
    """An event log that does nothing with its lines: the cost of making them stays."""

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
                # As the loop does it; the fake transport's care would be a quarter of the cost.
                client.session.get_buffer(-1)[:size_bytes] = request
                client.session.buffer_updated(size_bytes)
            kafka.run()
            for client in clients:
                client.transport.taken.clear()
        return (time.process_time() - started) / (count * len(clients)) * 1e6
