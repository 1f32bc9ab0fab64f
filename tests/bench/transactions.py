"""Transactions per second and the time of their ends; and what read_committed costs readers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tests.bench.brokers import Broker
from tests.bench.filled import Topic, create, new_topic
from tests.bench.gauges import Figures
from tests.bench.groups import find_coordinator
from tests.bench.raw_loads import FETCH, Rawbench
from tests.bench.runs import Load

PRODUCERS, RECORDS = (1, 20), (1, 10, 100)
_TRANSACTION = 1
#: Each producer has a partition.
_PARTITIONS = 20
_ABORT_EVERY = 5
_RECORDS_OF_READ = 16
#: Changes between the isolation levels, so that other work affects both alike.
_SLICES = 4


def loads(rawbench: Rawbench, seconds: float) -> Iterator[Load]:
    for producers in PRODUCERS:
        for records in RECORDS:
            name = f"{_count(producers, 'producer')}, {_count(records, 'record')}"
            run = partial(_transactions, rawbench, producers, records, seconds)
            yield Load(name, run, _coordinated)


def read_loads(rawbench: Rawbench, size_bytes: int, seconds: float) -> Iterator[Load]:
    topic = Topic("aborted", 1, size_bytes // 10)
    yield Load(
        "read_committed",
        partial(_read, rawbench, topic.name, seconds),
        partial(_filled, rawbench, topic),
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("s" if number > 1 else "")


def _coordinated(broker: Broker) -> None:
    """Kafka creates __transaction_state on the first FindCoordinator."""
    with broker.connect() as client:
        find_coordinator(client, "bench", _TRANSACTION)


def _transactions(
    rawbench: Rawbench, producers: int, records: int, seconds: float, broker: Broker
) -> Figures:
    topic = new_topic(broker, _PARTITIONS)
    return rawbench.transactions(
        broker,
        Topic(topic, _PARTITIONS, 0),
        producers,
        records,
        *("-secs", str(seconds), "-warm", str(seconds / 4)),
    )


def _filled(rawbench: Rawbench, topic: Topic, broker: Broker) -> None:
    if topic.name in broker.filled:
        return
    _coordinated(broker)
    create(broker, topic.name)
    count = topic.size_bytes // (_RECORDS_OF_READ * 1000)
    rawbench.transactions(
        broker,
        topic,
        4,
        _RECORDS_OF_READ,
        *("-abort-every", str(_ABORT_EVERY), "-requests", str(count)),
        *("-secs", "60", "-warm", "0"),
    )
    broker.filled.add(topic.name)


def _read(rawbench: Rawbench, topic: str, seconds: float, broker: Broker) -> Figures:
    """The same bytes by both levels, in turn; of read_committed, and its share of the other."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    figures: Figures = {}
    for _ in range(_SLICES):
        for committed in (False, True):
            slice_s = seconds / _SLICES
            figures = rawbench.fetch(
                broker, topic, FETCH["1 MB responses"], slice_s, 0, committed=committed
            )
            rates[committed].append(figures["mb_per_s"])
    return figures | {
        "mb_per_s": sum(rates[True]) / _SLICES,
        "committed_share": sum(rates[True]) / sum(rates[False]),
    }
