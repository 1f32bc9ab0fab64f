"""Produce beside a consumer that reads an old log whose pages are not in memory.

The broker that filled the log is stopped first: pages that a process has mapped stay in memory.
The same load beside a log in the page cache shows what the reader costs without the disk.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.bench.brokers import Broker, BrokerFailed, Contender
from tests.bench.filled import Topic, filled
from tests.bench.gauges import Figures
from tests.bench.raw_loads import FETCH, PRODUCE, Rawbench
from tests.bench.runs import LoadFailed, Runs

_SHAPE = PRODUCE[1]
_FIGURES = ("requests_per_s", "p50_us", "p99_us", "max_us", "cpu_us_per_request")
#: Shorter than one read of the whole log: the rate of a fast disk and memory.
_READ_BYTES_PER_S = 2_500_000_000
#: The name, whether the log is on the disk only, and whether it is read.
_ROWS = (
    ("alone", False, False),
    ("beside a reader, in memory", False, True),
    ("beside a reader, on the disk", True, True),
)


def measure(
    runs: Runs,
    part: str,
    contender: Contender,
    cache: Path,
    rawbench: Rawbench,
    size_bytes: int,
    rounds: int,
) -> None:
    folder = cache / "cold"
    seconds = size_bytes / _READ_BYTES_PER_S
    topic = Topic("cold", 1, size_bytes)
    try:
        contender.prepare(folder)
        broker = contender.start(folder)
        filled(broker, topic, rawbench)
        broker.stop()
        for _ in range(rounds):
            for name, drop, reads in _ROWS:
                read = topic if reads else None
                run = partial(_run, rawbench=rawbench, topic=read, seconds=seconds)
                figures = _started(contender, folder, drop, run)
                runs.add(part, f"{_SHAPE.name} {name}", contender.name, figures)
    except (BrokerFailed, LoadFailed, OSError) as failure:
        runs.add_failure(part, _SHAPE.name, contender.name, str(failure))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(
    contender: Contender, folder: Path, drop: bool, run: Callable[[Broker], Figures]
) -> Figures:
    os.sync()
    for file in folder.rglob("*"):
        if file.is_file():
            _load(file)
            if drop:
                _drop(file)
    broker = contender.start(folder)
    try:
        return run(broker)
    finally:
        broker.stop()


def _load(file: Path) -> None:
    buffer = bytearray(1 << 20)
    with file.open("rb", buffering=0) as pages:
        while pages.readinto(buffer):
            pass


def _drop(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _run(broker: Broker, rawbench: Rawbench, topic: Topic | None, seconds: float) -> Figures:
    rawbench.produce(broker, _SHAPE, 0.5)  # warms up, and writes elsewhere in the file
    with ThreadPoolExecutor(1) as beside:
        reader = None
        if topic is not None:
            size = FETCH["1 MB responses"]
            reader = beside.submit(rawbench.fetch, broker, topic.name, size, seconds, 0)
        figures = rawbench.produce(broker, _SHAPE, seconds, 0)
        read = {"read_mb_per_s": reader.result()["mb_per_s"]} if reader is not None else {}
    return {key: figures[key] for key in _FIGURES} | read
