"""The raw stream beside Produce and Fetch of the same broker: one producer, some consumers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from confluent_kafka.admin import AdminClient

from tests.bench.brokers import RAW, Broker, Contender, ottla
from tests.bench.raw_loads import FETCH, Rawbench, Shape
from tests.bench.runs import Load

TOPIC = "stream"
SIZES = {"100 B": 100, "1 KB": 1000}
DEPTHS = 1, 32, 1024
READERS = 1, 10
_PATIENCE_S = 30


def contenders() -> list[Contender]:
    return [ottla("os", "--raw", "127.0.0.1:0", "--raw-topic", TOPIC)]


def loads(rawbench: Rawbench, filled_bytes: int, seconds: float) -> Iterator[Load]:
    for name, size in SIZES.items():
        for depth in DEPTHS:
            one = Shape("", 1, depth, record_bytes=size)
            stream = partial(rawbench.stream, size=size, depth=depth, seconds=seconds)
            yield Load(f"raw, {name}, {depth} in flight", stream)
            produce = partial(rawbench.produce, shape=one, seconds=seconds)
            yield Load(f"Produce, {name}, {depth} in flight", produce)
    for name, size in SIZES.items():
        fill = partial(_fill, rawbench=rawbench, size=size, filled_bytes=filled_bytes)
        for number, readers in enumerate(READERS):
            follow = partial(
                rawbench.follow, readers=readers, stream_bytes=filled_bytes, seconds=seconds
            )
            title = f"{name}, {readers} consumer{'s' if readers > 1 else ''}"
            yield Load(f"raw, {title}", follow, fill if not number else _nothing)
            fetch = partial(
                rawbench.fetch,
                topic=TOPIC,
                max_bytes=FETCH["1 MB responses"],
                seconds=seconds,
                connections=readers,
            )
            yield Load(f"Fetch, 1 MB responses, {title}", fetch)


def _nothing(broker: Broker) -> None:
    pass


def _fill(broker: Broker, rawbench: Rawbench, size: int, filled_bytes: int) -> None:
    """A new stream of records of this size."""
    admin = AdminClient({"bootstrap.servers": broker.address})
    [done] = admin.delete_topics([TOPIC]).values()
    done.result(_PATIENCE_S)
    rawbench.fill_stream(broker.at(RAW), size, filled_bytes // (size + 4) + 1)
