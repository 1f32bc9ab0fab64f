"""Time from process start to the first response on an empty folder, and memory when idle."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.brokers import BrokerFailed, Contender
from tests.bench.gauges import memory_mb
from tests.bench.runs import Runs

PART = "startup"
EMPTY = "empty folder"
_SETTLE_S = 1.0


def measure(runs: Runs, contenders: Sequence[Contender], cache: Path, times: int) -> None:
    folder = cache / "startup"
    for _ in range(times):
        for contender in contenders:
            began = time.perf_counter()
            contender.prepare(folder)
            prepared_s = time.perf_counter() - began
            try:
                broker = contender.start(folder)
            except BrokerFailed as failure:
                runs.add_failure(PART, EMPTY, contender.name, str(failure))
                continue
            try:
                time.sleep(_SETTLE_S)
                figures = {
                    "ready_ms": broker.ready_s * 1000,
                    # Kafka requires the folder to be formatted in a step of its own.
                    "prepared_ms": prepared_s * 1000,
                    **memory_mb(broker.pid),
                }
                runs.add(PART, EMPTY, contender.name, figures)
            finally:
                broker.stop()
    shutil.rmtree(folder, ignore_errors=True)
