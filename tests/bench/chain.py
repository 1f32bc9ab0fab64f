"""A produce request from the received bytes to the answer, through everything but the sockets."""

from __future__ import annotations

import gc
import shutil
import time
from pathlib import Path

from tests.fakes.in_process import InProcessBroker
from tests.fakes.requests import create_topic, produce

CONNECTIONS = 10
_PASSES = 100


def measure(cache: Path, quick: bool) -> dict[str, float]:
    """Microseconds of CPU a request of 1 KB, ten connections to a pass, best of several."""
    folder = cache / "chain"
    shutil.rmtree(folder, ignore_errors=True)
    brokers = {
        "memory": InProcessBroker(),
        "lmdb, flush=os": InProcessBroker(f"lmdb://{folder}/plain"),
        # Enabled, so that times are taken for every request; none fails, so none is written.
        "lmdb, flush=os, request log of errors": InProcessBroker(
            f"lmdb://{folder}/logged", log_requests="errors"
        ),
        "lmdb, flush=os, request log of all": InProcessBroker(
            f"lmdb://{folder}/all", log_requests="all", events=Unwritten()
        ),
    }
    runs = {name: Run(broker) for name, broker in brokers.items()}
    best = dict.fromkeys(runs, float("inf"))
    gc.collect()
    gc.freeze()
    for _ in range(5 if quick else 25):
        for name, run in runs.items():
            best[name] = min(best[name], run.passes(_PASSES))
    gc.unfreeze()
    for broker in brokers.values():
        broker.close()
    return {f"produce without sockets: {name}": us for name, us in best.items()}


class Unwritten:
    """An event log that does nothing with its lines: the cost of making them stays."""

    def info(self, event: str, **fields: object) -> None:
        pass

    warning = error = info


class Run:
    def __init__(self, broker: InProcessBroker) -> None:
        self._broker = broker
        self._clients = [broker.connect() for _ in range(CONNECTIONS)]
        create_topic(broker, self._clients[0], "chain")
        self._frame = produce("chain")

    def passes(self, count: int) -> float:
        request, clients, broker = self._frame, self._clients, self._broker
        started = time.process_time()
        for _ in range(count):
            for client in clients:
                client.receive(request)
            broker.end_pass()
            for client in clients:
                client.transport.sent.clear()
        return (time.process_time() - started) / (count * len(clients)) * 1e6
