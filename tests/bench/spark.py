"""python -m tests.bench.spark [--records N] [--rounds N] [--json FILE] [LOAD...]

The data source `ottla` beside Spark's own Kafka connector, against one Ottla: rows a second of the
same queries in the same session, by turns, after a round that is not counted. Prints a table with
ratios: a figure alone says how busy the machine was.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Producer

from interfaces.spark.registration import register
from interfaces.spark.session import open_session
from tests.bench import machine
from tests.bench.brokers import Broker, ottla
from tests.bench.filled import create, new_topic, produce_all
from tests.bench.progress import say
from tests.e2e.spark.connector import VERSION, ConnectorNotFound, connector_jars
from tests.tool import INTERRUPTED, Arguments, at_least_one, stop_as_if_interrupted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OURS, THEIRS = "ottla", "kafka"
PARTITIONS = 4
RECORDS, ROUNDS = 1_000_000, 3
#: Records of 100 bytes for each of 1 KB.
SMALL_TIMES = 2
#: The time of the first record; each is a millisecond later.
FIRST_MS = 1_700_000_000_000
NARROW_ROWS = 1_000
_DIFFERENT_VALUES = 1_000
#: Of each record of the topic that has some.
_HEADERS = [("trace", b"00-4bf92f3577b34da6"), ("content-type", b"application/json")]


class Topic(NamedTuple):
    name: str
    value_bytes: int
    records: int
    headers: bool = False


class World(NamedTuple):
    spark: SparkSession
    broker: Broker
    large: Topic
    small: Topic
    headed: Topic


class Load(NamedTuple):
    name: str
    #: 0: the time of the query counts, not the number of rows.
    rows: Callable[[World], int]
    #: Of a data source; raises where rows are missing.
    run: Callable[[World, str], None]


def main() -> int:
    parser = Arguments(prog="python -m tests.bench.spark")
    parser.add_argument("--records", type=at_least_one, default=RECORDS, help="of 1 KB")
    parser.add_argument("--rounds", type=at_least_one, default=ROUNDS)
    parser.add_argument("--json", type=Path, help="where all runs are written")
    parser.add_argument("loads", nargs="*", metavar="LOAD", help="a part of its name")
    given = parser.parse_args()
    loads = [
        load for load in LOADS if not given.loads or any(part in load.name for part in given.loads)
    ]
    if not loads:
        parser.error(f"no load has {' or '.join(given.loads)} in its name")
    stop_as_if_interrupted()
    try:
        return _measure(given, loads)
    except ConnectorNotFound as missing:
        print(f"No connector to compare with: {missing}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _measure(given: argparse.Namespace, loads: list[Load]) -> int:
    busy_before = machine.busy()
    with (
        tempfile.TemporaryDirectory(prefix="ottla-bench-") as folder,
        _world(Path(folder), given.records) as world,
    ):
        seconds = runs(world, loads, given.rounds)
        rows = {load.name: load.rows(world) for load in loads}
    facts = {**machine.describe(), "connector": VERSION}
    result = {
        "machine": facts,
        "load_before_and_after": [busy_before, machine.busy()],
        "rows": rows,
        "seconds": seconds,
    }
    print("\n".join(table(rows, seconds)))
    print(f"\nLoad of the machine before and after: {busy_before}, {machine.busy()}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    return 0


def runs(world: World, loads: list[Load], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Seconds of each load by data source, without those of the first round."""
    seconds: dict[str, dict[str, list[float]]] = {
        load.name: {OURS: [], THEIRS: []} for load in loads
    }
    for number in range(rounds + 1):
        order = (OURS, THEIRS) if number % 2 else (THEIRS, OURS)
        for load in loads:
            for source in order:
                started = time.perf_counter()
                load.run(world, source)
                took = time.perf_counter() - started
                say(f"{'warm-up' if number == 0 else number}: {load.name}, {source}: {took:.2f} s")
                if number:
                    seconds[load.name][source].append(took)
    return seconds


def table(rows: dict[str, int], seconds: dict[str, dict[str, list[float]]]) -> list[str]:
    """Medians; the ratio is the median of those of each round."""
    lines = [
        "| load | `ottla` | Spark's connector | speedup of `ottla` |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, of in seconds.items():
        rates = [_shown(rows[name], statistics.median(of[source])) for source in (OURS, THEIRS)]
        pairs = zip(of[OURS], of[THEIRS], strict=True)
        ratios = [theirs / ours for ours, theirs in pairs]
        spread = f"{statistics.median(ratios):.2f} x ({min(ratios):.2f}-{max(ratios):.2f})"
        lines.append(f"| {name} | {' | '.join(rates)} | {spread} |")
    return lines


def _shown(rows: int, seconds: float) -> str:
    return f"{rows / seconds:,.0f} rows/s" if rows else f"{seconds:.2f} s"


@contextmanager
def _world(folder: Path, records: int) -> Iterator[World]:
    settings = [
        ("spark.jars", ",".join(map(str, connector_jars()))),
        ("spark.driver.memory", "1g"),
        ("spark.local.dir", str(folder / "spark")),
        ("spark.sql.warehouse.dir", str(folder / "warehouse")),
    ]
    data = folder / "broker"
    data.mkdir()
    broker = ottla("commit").start(data)
    try:
        large = _filled(broker, Topic("kilobytes", 1_000, records))
        small = _filled(broker, Topic("hundreds", 100, records * SMALL_TIMES))
        headed = _filled(broker, Topic("headed", 100, records, headers=True))
        say("topics are filled; Spark starts")
        spark = open_session("bench", "local[2]", settings)
        register(spark)
        try:
            yield World(spark, broker, large, small, headed)
        finally:
            spark.stop()
    finally:
        broker.stop()


def _filled(broker: Broker, topic: Topic) -> Topic:
    """Each partition in turn, so that a filter on time is narrow in all of them."""
    create(broker, topic.name, PARTITIONS)
    producer = Producer(
        {"bootstrap.servers": broker.address, "enable.idempotence": True, "linger.ms": 20}
    )
    headers = _HEADERS if topic.headers else []
    values = [os.urandom(topic.value_bytes) for _ in range(_DIFFERENT_VALUES)]
    produce_all(
        producer,
        (
            {
                "topic": topic.name,
                "value": values[number % _DIFFERENT_VALUES],
                "key": b"%d" % number,
                "partition": number % PARTITIONS,
                "timestamp": FIRST_MS + number,
                "headers": headers,
            }
            for number in range(topic.records)
        ),
    )
    return topic


def _read(topic: Topic, world: World, source: str) -> None:
    frame = _frame(world, source, topic, includeHeaders=str(topic.headers))
    size = "length(value)" + (" + size(headers)" if topic.headers else "")
    counted, total = _sums(frame, size)
    assert counted == topic.records, f"{source} read {counted} of {topic.records} rows"
    assert total == topic.records * (topic.value_bytes + topic.headers * len(_HEADERS))


def _narrow(where: Callable[[World], str], world: World, source: str) -> None:
    frame = _frame(world, source, world.large, pushDownFilters="true")
    counted, _ = _sums(frame.where(where(world)))
    assert counted == NARROW_ROWS, f"{source} found {counted} rows"


def _by_offset(world: World) -> str:
    first = world.large.records // PARTITIONS // 2
    return f"partition = 1 AND offset >= {first} AND offset < {first + NARROW_ROWS}"


def _by_time(world: World) -> str:
    """The newest: an upper bound would not narrow it, as timestamps need not increase."""
    return f"timestamp >= timestamp_millis({FIRST_MS + world.large.records - NARROW_ROWS})"


def _frame(world: World, source: str, topic: Topic, **options: str) -> DataFrame:
    """The connector ignores unknown options."""
    reader = world.spark.read.format(source).option("subscribe", topic.name).options(**options)
    return reader.option("kafka.bootstrap.servers", world.broker.address).load()


def _sums(frame: DataFrame, size: str = "length(value)") -> tuple[int, int]:
    [row] = frame.selectExpr("count(*)", f"sum({size})").collect()
    return int(row[0]), int(row[1])


def _write(topic: Topic, world: World, source: str) -> None:
    """A quarter of the topic's records, to a new topic."""
    name, count = new_topic(world.broker, PARTITIONS), topic.records // 4
    frame = world.spark.range(0, count, 1, 2).selectExpr(
        "CAST(id AS STRING) AS key", f"rpad(CAST(id AS STRING), {topic.value_bytes}, 'x') AS value"
    )
    writer: Any = frame.write.format(source).mode("append").option("topic", name)
    writer.option("kafka.bootstrap.servers", world.broker.address).save()


def _reads(name: str, topic: Callable[[World], Topic]) -> Load:
    return Load(
        name,
        lambda world: topic(world).records,
        lambda world, source: _read(topic(world), world, source),
    )


def _writes(name: str, topic: Callable[[World], Topic]) -> Load:
    return Load(
        name,
        lambda world: topic(world).records // 4,
        lambda world, source: _write(topic(world), world, source),
    )


LOADS = (
    _reads("read, values of 1 KB", lambda world: world.large),
    _reads("read, values of 100 B", lambda world: world.small),
    _reads("read, values of 100 B and two headers", lambda world: world.headed),
    Load("read 1,000 rows of a partition by offset", lambda _: 0, partial(_narrow, _by_offset)),
    Load("read the newest 1,000 rows by time", lambda _: 0, partial(_narrow, _by_time)),
    _writes("write, values of 1 KB", lambda world: world.large),
    _writes("write, values of 100 B", lambda world: world.small),
)


if __name__ == "__main__":
    sys.exit(main())
