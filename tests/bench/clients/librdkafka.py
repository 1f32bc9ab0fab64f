"""confluent-kafka, as fast as Python can drive it.

python -m tests.bench.clients.librdkafka produce HOST:PORT TOPIC --count N [--size 1000]
    [--lz4] [--keys N]
python -m tests.bench.clients.librdkafka consume HOST:PORT TOPIC --count N
python -m tests.bench.clients.librdkafka follow HOST:PORT TOPIC --count END_OFFSET

Prints one JSON object. `client_cores` near 1 means that the client was the limit, not the broker.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

CHUNK = 1000
_WORDS = b"kafka topic partition offset record batch broker commit leader fetch produce".split()


def produce(address: str, topic: str, size: int, count: int, lz4: bool, keys: int = 0) -> int:
    """With lz4 the values are words, so that there is something to compress; with keys, they are
    updated in turn.
    """
    failures: list[str] = []

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            failures.append(str(error))

    producer = Producer(
        {
            "bootstrap.servers": address,
            "linger.ms": 5,
            "acks": "all",
            "compression.codec": "lz4" if lz4 else "none",
            "queue.buffering.max.messages": 200_000,
            "queue.buffering.max.kbytes": 256_000,
            # An event for each message would be the client's cost more than the broker's.
            "delivery.report.only.error": True,
            "on_delivery": delivered,
        }
    )
    chance = random.Random(1)
    values = [_text(chance, size) if lz4 else chance.randbytes(size) for _ in range(CHUNK)]
    chunks = [[{"value": value} for value in values]]
    if keys:
        keyed = zip(range(keys), itertools.cycle(values))
        updates = [{"key": b"%d" % key, "value": value} for key, value in keyed]
        chunks = [updates[at : at + CHUNK] for at in range(0, keys, CHUNK)]
    for messages in itertools.islice(itertools.cycle(chunks), count // CHUNK):
        while len(producer) > 200_000 - 2 * CHUNK or len(producer) * size > 200_000_000:
            producer.poll(0.001)
        queued = producer.produce_batch(topic, messages, partition=0)
        assert queued == len(messages), "the client's queue is full"
        producer.poll(0)
    assert producer.flush(60) == 0, "not everything was sent in a minute"
    assert not failures, failures[0]
    return count // CHUNK * CHUNK * size


def consume(address: str, topic: str, count: int) -> int:
    """Reads from the beginning again at the end of the topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "bench",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": False,
        }
    )
    _low, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
    beginning = TopicPartition(topic, 0, OFFSET_BEGINNING)
    read = size = 0
    while read < count:
        consumer.assign([beginning])
        left = end
        while left > 0 and read < count:
            messages = consumer.consume(num_messages=10_000, timeout=10)
            assert messages, "nothing came for ten seconds"
            # All values have one size; looking at each would be most of the client's work.
            last = messages[-1].value()
            assert messages[-1].error() is None, messages[-1].error()
            size += len(messages) * len(last or b"")
            read += len(messages)
            left -= len(messages)
    consumer.close()
    return size


def follow(address: str, topic: str, end: int) -> int:
    """Reads from the beginning to this offset, over records that are removed meanwhile."""
    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "bench", "auto.offset.reset": "earliest"}
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    position = size = 0
    while position < end:
        for message in consumer.consume(num_messages=10_000, timeout=10):
            assert message.error() is None, message.error()
            position = message.offset() + 1
            size += len(message.value())
    consumer.close()
    return size


def _text(chance: random.Random, size: int) -> bytes:
    return b" ".join(chance.choices(_WORDS, k=size // 4))[:size]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["produce", "consume", "follow"])
    parser.add_argument("address")
    parser.add_argument("topic")
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--lz4", action="store_true")
    parser.add_argument("--keys", type=int, default=0)
    options = parser.parse_args()
    started, used = time.perf_counter(), _cpu_s()
    if options.what == "produce":
        sent = options.size, options.count, options.lz4, options.keys
        size = produce(options.address, options.topic, *sent)
    elif options.what == "follow":
        size = follow(options.address, options.topic, options.count)
    else:
        size = consume(options.address, options.topic, options.count)
    elapsed = time.perf_counter() - started
    print(
        json.dumps(
            {
                "mb": size / 1e6,
                "seconds": elapsed,
                "mb_per_s": size / 1e6 / elapsed,
                "client_cores": (_cpu_s() - used) / elapsed,
            }
        )
    )


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
