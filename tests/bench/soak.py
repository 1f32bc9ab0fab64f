"""Many times the retained bytes through one topic, and many updates of the same keys through
compaction, beside a consumer that follows and a producer that measures its latency.

The CPU of compaction is that of the broker and its workers, less that of the same updates in a
topic that is not compacted.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.bench.brokers import Broker, BrokerFailed, Contender
from tests.bench.client_process import client
from tests.bench.filled import Topic, create, new_topic
from tests.bench.gauges import Figures, tree_cpu_s
from tests.bench.raw_loads import Rawbench
from tests.bench.runs import LoadFailed, Runs
from tests.bench.stage import disk_bytes
from tests.bench.stall import pinged

PART = "soak"
RETAINED, PLAIN, COMPACTED = "retained by size", "updates", "updates, compacted"
_SETTINGS = {"log.retention.check.interval.ms": "1000", "log.cleaner.backoff.ms": "1000"}
#: Of `ottla serve`.
OPTIONS = [word for name, value in _SETTINGS.items() for word in ("--set", f"{name}={value}")]
#: Kafka removes files later, and begins its tasks later.
PROPERTIES = "".join(f"{name}={value}\n" for name, value in _SETTINGS.items()) + (
    "log.segment.delete.delay.ms=1000\nlog.initial.task.delay.ms=1000\n"
)
_RECORD_BYTES, _UPDATE_BYTES, _KEYS = 1000, 200, 100_000
#: Kafka removes and compacts whole segments.
_SEGMENTS, _LEAST_SEGMENT_BYTES = 20, 1 << 20
#: The speed is compared in so many parts of a load.
_SLICES = 10
_POLL_S = 0.05
#: Nothing is left to compact if the size stays the same so long.
_QUIET_S = 5.0
_PATIENCE_S = 900.0


class _Load(NamedTuple):
    name: str
    configs: dict[str, str]
    #: Of a record.
    size_bytes: int
    records: int
    write: Callable[[Broker, str], object]


def measure(
    runs: Runs,
    contender: Contender,
    cache: Path,
    rawbench: Rawbench,
    size_bytes: int,
    updates: int,
    warm_up_s: float,
) -> None:
    folder = cache / PART
    try:
        contender.prepare(folder)
        broker = contender.start(folder)
        try:
            rawbench.warm_up(contender, broker, warm_up_s)
            cpu_s = 0.0
            for load in _loads(rawbench, size_bytes, updates):
                figures = _run(broker, load)
                if load.name == COMPACTED:
                    spent_s = figures["broker_cpu_s"] - cpu_s
                    figures["cleaning_cpu_s_per_gb"] = spent_s / figures["mb"] * 1000
                cpu_s = figures["broker_cpu_s"]
                runs.add(PART, load.name, contender.name, figures)
        finally:
            broker.stop()
    except (BrokerFailed, LoadFailed, OSError, subprocess.SubprocessError) as failure:
        runs.add_failure(PART, "soak", contender.name, str(failure))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _loads(rawbench: Rawbench, size_bytes: int, updates: int) -> list[_Load]:
    def fill(broker: Broker, name: str) -> None:
        rawbench.fill(broker, Topic(name, 1, size_bytes))

    def update(broker: Broker, name: str) -> object:
        options = ("--size", _UPDATE_BYTES, "--count", updates, "--keys", _KEYS)
        where = "produce", broker.address, name
        return client("librdkafka", *where, *options, patience_s=_PATIENCE_S)

    retained_bytes = size_bytes // 10
    limited = {
        "retention.bytes": str(retained_bytes),
        "segment.bytes": str(max(retained_bytes // _SEGMENTS, _LEAST_SEGMENT_BYTES)),
    }
    segment_bytes = max(updates * _UPDATE_BYTES // _SEGMENTS, _LEAST_SEGMENT_BYTES)
    segments = {"segment.bytes": str(segment_bytes)}
    updated = _UPDATE_BYTES, updates // 1000 * 1000, update
    return [
        _Load(RETAINED, limited, _RECORD_BYTES, size_bytes // 16_000 * 16, fill),
        _Load(PLAIN, segments, *updated),
        _Load(COMPACTED, segments | {"cleanup.policy": "compact"}, *updated),
    ]


def _run(broker: Broker, load: _Load) -> Figures:
    topic, pinged_topic = f"soak-{load.name.split()[-1]}", new_topic(broker)
    create(broker, topic, configs=load.configs)
    before_bytes, before_s = disk_bytes(broker.folder / "data"), tree_cpu_s(broker.pid)

    def write(broker: Broker) -> Figures:
        with ThreadPoolExecutor(2) as beside:
            where = "follow", broker.address, topic, "--count", load.records
            follower = beside.submit(partial(client, "librdkafka", *where, patience_s=_PATIENCE_S))
            figures = _rates(broker, topic, load, beside.submit(load.write, broker, topic))
            read_mb = follower.result()["mb"]
        _wait_until_quiet(broker, topic)
        return figures | {"read_mb": read_mb}

    figures = pinged(broker, write, pinged_topic, "produce")
    grown = disk_bytes(broker.folder / "data") - before_bytes
    return figures | {
        "broker_cpu_s": tree_cpu_s(broker.pid) - before_s,
        "log_mb": _log_bytes(broker, topic) / 1e6,
        "grown_mb": grown / 1e6,
    }


def _rates(broker: Broker, topic: str, load: _Load, writing: Future[object]) -> Figures:
    """The speed, and that of the slowest part of the load as a share of the median."""
    marks: list[float] = []
    with broker.connect() as watcher:
        while len(marks) <= _SLICES and not (writing.done() and writing.exception()):
            done = watcher.end_offset(topic)
            while len(marks) <= _SLICES and done >= max(1, load.records * len(marks) // _SLICES):
                marks.append(time.perf_counter())
            time.sleep(_POLL_S)
    writing.result()
    mb = load.records * load.size_bytes / 1e6
    rates = [mb / _SLICES / max(after - at, _POLL_S) for at, after in pairwise(marks)]
    return {
        "mb": mb,
        "mb_per_s": mb / (marks[-1] - marks[0]),
        "slowest_share": min(rates) / statistics.median(rates),
    }


def _wait_until_quiet(broker: Broker, topic: str) -> None:
    size, since = -1, time.monotonic()
    while time.monotonic() < since + _QUIET_S:
        if (now := _log_bytes(broker, topic)) != size:
            size, since = now, time.monotonic()
        time.sleep(_POLL_S)


def _log_bytes(broker: Broker, topic: str) -> int:
    with broker.connect() as watcher:
        return watcher.log_bytes(topic)
