"""Start-up after SIGKILL, with data in a hundred partitions, or with none.

The start without data is the baseline: Kafka's controller, in the same process, refuses the new
broker until the session of the killed one is over (nine seconds).

Every round begins on a copy of the killed broker's folder: a second start on the same folder would
find it recovered. The data is in the page cache, as after a crash of the process alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.brokers import Broker, BrokerFailed, Contender
from tests.bench.filled import Topic, create
from tests.bench.gauges import Figures, memory_mb
from tests.bench.raw_loads import Rawbench
from tests.bench.runs import LoadFailed, Runs

PARTITIONS = 100
_PATIENCE_S = 120


def measure(
    runs: Runs,
    part: str,
    contenders: Sequence[Contender],
    cache: Path,
    rawbench: Rawbench,
    size_bytes: int,
    rounds: int,
    partitions: int = PARTITIONS,
) -> None:
    topic = Topic("recovered", partitions if size_bytes else 0, size_bytes)
    data = f"{size_bytes / 1e9:.1f} GB in {partitions} partitions" if size_bytes else "no topics"
    load = f"after SIGKILL, {data}"
    ends: dict[str, list[int]] = {}
    left: dict[str, Path] = {}
    try:
        for contender in contenders:
            folder = left[contender.name] = cache / f"recovery-{contender.family}"
            try:
                ends[contender.name] = _killed(contender, folder, topic, rawbench)
            except (BrokerFailed, LoadFailed, AssertionError, OSError) as failure:
                runs.add_failure(part, load, contender.name, str(failure))
        for _ in range(rounds):
            for contender in contenders:
                if contender.name in ends:
                    started = part, load, contender, left[contender.name]
                    _recovered(runs, *started, topic, ends[contender.name])
    finally:
        for folder in left.values():
            shutil.rmtree(folder, ignore_errors=True)


def _killed(contender: Contender, folder: Path, topic: Topic, rawbench: Rawbench) -> list[int]:
    """Returns the end offsets of the killed broker's partitions."""
    contender.prepare(folder)
    broker = contender.start(folder)
    try:
        if topic.partitions:
            create(broker, topic.name, topic.partitions)
            rawbench.fill(broker, topic)
        return _ends(broker, topic)
    finally:
        broker.kill()


def _recovered(
    runs: Runs,
    part: str,
    load: str,
    contender: Contender,
    folder: Path,
    topic: Topic,
    ends: list[int],
) -> None:
    # Kafka's properties name the folder, so the copy is put aside and the folder is used.
    kept = folder.with_name(folder.name + "-kept")
    subprocess.run(["cp", "-a", "--reflink=auto", str(folder), str(kept)], check=True)
    broker = None
    try:
        os.sync()
        broker = contender.start(folder)
        figures = _until_offsets(broker, topic, ends)
        runs.add(part, load, contender.name, figures)
    except (BrokerFailed, LoadFailed, OSError) as failure:
        runs.add_failure(part, load, contender.name, str(failure))
    finally:
        if broker is not None:
            broker.kill()
        shutil.rmtree(folder, ignore_errors=True)
        kept.rename(folder)


def _until_offsets(broker: Broker, topic: Topic, ends: list[int]) -> Figures:
    answered = time.perf_counter()
    while _ends(broker, topic) != ends:
        if time.perf_counter() - answered > _PATIENCE_S:
            raise LoadFailed("the offsets before the kill did not come back")
        time.sleep(0.01)
    return {
        "ready_ms": broker.ready_s * 1000,
        "recovered_s": broker.ready_s + time.perf_counter() - answered,
        **memory_mb(broker.pid),
    }


def _ends(broker: Broker, topic: Topic) -> list[int]:
    """The end offset of every partition; -1 where it is not known yet."""
    with broker.connect() as client:
        offsets = (client.list_offset(topic.name, index, -1) for index in range(topic.partitions))
        return [-1 if error else offset for error, offset in offsets]
