"""Ottla with each storage engine that lasts, and Apache Kafka, under the same loads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.bench.brokers import Contender, kafka, kafka_nodes, ottla, ottla_in_postgres
from tests.bench.filled import Topic, filled
from tests.bench.raw_loads import FETCH, PRODUCE, Rawbench, Shape
from tests.bench.runs import Load
from tests.fakes.postgres import Postgres

#: Of a broker that is killed.
PARTITIONS = 1000
#: Requests that are in flight together share a commit.
FSYNC = [
    Shape(f"{count} partition{'s' if count > 1 else ''} a commit", 1, count, partitions=count)
    for count in (1, 10, 100)
]
#: One partition: with a leader on each node Kafka's followers fetch more often, and less.
REPLICATED = [
    Shape(f"{size}, {connections} x {depth} in flight", connections, depth, records)
    for size, records in (("1 KB", 1), ("16 KB", 16), ("900 KB", 900))
    for connections, depth in ((1, 1), (10, 1), (10, 5), (50, 2))
]


def contenders(libs: Path | None, flush: str) -> list[Contender]:
    files = ottla(flush, "--storage", "files://", name="ottla-files")
    return [ottla(flush), files, *([kafka(libs, flush)] if libs else [])]


def with_postgres(libs: Path | None, server: Postgres) -> list[Contender]:
    whole = ottla_in_postgres("commit", server)
    return [ottla("commit"), whole, *([kafka(libs, "commit")] if libs else [])]


def replicated(libs: Path | None, alone: Postgres, primary: Postgres) -> list[Contender]:
    """A store in one PostgreSQL, and in one with a standby, beside three nodes of Kafka."""
    primary.start_standby()
    both = ottla_in_postgres("commit", primary, "ottla-postgresql-standby")
    kafkas = [kafka_nodes(libs)] if libs else []
    return [ottla_in_postgres("commit", alone), both, *kafkas]


def server_loads(rawbench: Rawbench, topic: Topic, seconds: float) -> Iterator[Load]:
    fifty = Shape("50 x 2 in flight", 50, 2)
    yield from rawbench.produce_loads([*PRODUCE[:3], fifty, *PRODUCE[5:]], seconds)
    yield from rawbench.fetch_loads(topic, seconds)


def loads(rawbench: Rawbench, topic: Topic, seconds: float) -> Iterator[Load]:
    yield from rawbench.produce_loads([PRODUCE[1], *PRODUCE[5:]], seconds)
    for name, size in FETCH.items():
        fetch = partial(rawbench.fetch, topic=topic.name, max_bytes=size, seconds=seconds)
        yield Load(name, fetch, partial(filled, topic=topic, filler=rawbench))
