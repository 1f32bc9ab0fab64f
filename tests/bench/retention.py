"""Produce while a large log is removed, by retention or with its topic; and the size of the file.

The removal begins with the load. The file is measured after some and after many times the bytes
that a topic retains.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from tests.bench.brokers import Broker, BrokerFailed, Contender
from tests.bench.filled import Topic, create, filled
from tests.bench.gauges import Figures
from tests.bench.raw_loads import PRODUCE, Rawbench
from tests.bench.runs import LoadFailed, Runs
from tests.bench.stage import disk_bytes

PART = "retention"
#: A check of the broker comes while the load runs.
SETTINGS = ("--set", "log.retention.check.interval.ms=200")
_SHAPE = PRODUCE[1]
_FIGURES = ("requests_per_s", "p50_us", "p99_us", "max_us", "cpu_us_per_request")
_SECONDS = 2.0
_PATIENCE_S = 30

Removal = Callable[[AdminClient, str], None]


def _expire(name: str, admin: AdminClient, topic: str) -> None:
    entry = ConfigEntry(name, "1", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(_PATIENCE_S)


def _delete(admin: AdminClient, topic: str) -> None:
    admin.delete_topics([topic])[topic].result(_PATIENCE_S)


_ROWS: tuple[tuple[str, Removal | None], ...] = (
    ("beside an old log", None),
    ("while a log expires by time", partial(_expire, "retention.ms")),
    ("while a log expires by size", partial(_expire, "retention.bytes")),
    ("while a topic is deleted", _delete),
)


def measure(
    runs: Runs, contender: Contender, cache: Path, rawbench: Rawbench, size_bytes: int, rounds: int
) -> None:
    folder = cache / PART
    try:
        contender.prepare(folder)
        broker = contender.start(folder)
        try:
            figures = _file(broker, rawbench, size_bytes // 4)
            runs.add(PART, "a topic with a limit", contender.name, figures)
            for number in range(rounds):
                for name, remove in _ROWS:
                    topic = Topic(f"old-{number}-{name.split()[-1]}", 1, size_bytes)
                    figures = _beside(broker, rawbench, topic, remove)
                    runs.add(PART, f"{_SHAPE.name} {name}", contender.name, figures)
        finally:
            broker.stop()
    except (BrokerFailed, LoadFailed, OSError) as failure:
        runs.add_failure(PART, _SHAPE.name, contender.name, str(failure))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _beside(broker: Broker, rawbench: Rawbench, topic: Topic, remove: Removal | None) -> Figures:
    """All loads come after a log is written: its pages are on the way to the disk."""
    filled(broker, topic, rawbench)
    if remove is not None:
        remove(AdminClient({"bootstrap.servers": broker.address}), topic.name)
    figures = rawbench.produce(broker, _SHAPE, _SECONDS, 0)
    return {key: figures[key] for key in _FIGURES}


def _file(broker: Broker, rawbench: Rawbench, retained_bytes: int) -> Figures:
    """Its size in multiples of the retained bytes."""
    topic = Topic("limited", 1, 2 * retained_bytes)
    create(broker, topic.name, configs={"retention.bytes": str(retained_bytes)})
    sizes = []
    for _ in range(5):
        rawbench.fill(broker, topic)
        sizes.append(disk_bytes(broker.folder / "data"))
    return {"file_after_2": sizes[0] / retained_bytes, "file_after_10": sizes[-1] / retained_bytes}
