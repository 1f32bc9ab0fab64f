"""Produce to topics with another compression than that of the batch."""

from __future__ import annotations

import struct

from crc32c import crc32c

from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, TIMESTAMP, ZSTD, Record, record_batch
from tests.oracle.requests import produce
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.scenarios.produce import YEAR_2096, broken, look, new_producer

CODECS = {"uncompressed": NONE, "gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD}
THREE: list[Record] = [
    ("k", "first " * 9, [("h", b"1"), ("h", None)], TIMESTAMP + 5),
    ("", None, [], TIMESTAMP + 9),
    ("k", "", [], TIMESTAMP),
]


@scenario("produce", first=13)
def recompression(run: ScenarioRun) -> None:
    for name in CODECS:
        topic = run.topic(name, compression_type=name)
        for sent, codec in CODECS.items():
            run.send(f"{sent} to {name}", produce(topic, record_batch(THREE, codec=codec)))
        look(run, f"stored, {name}", topic)
    for name, level in (
        ("gzip", "1"),
        ("gzip", "9"),
        ("lz4", "1"),
        ("lz4", "17"),
        ("zstd", "-131072"),
        ("zstd", "22"),
    ):
        settings = {"compression_type": name, f"compression_{name}_level": level}
        topic = run.topic(f"{name}{level}", **settings)
        run.send(f"{name}, level {level}", produce(topic, record_batch(THREE, codec=SNAPPY)))
        look(run, f"stored, {name}, level {level}", topic)


@scenario("produce")
def recompression_and_timestamps(run: ScenarioRun) -> None:
    topic = run.topic("a", compression_type="gzip", message_timestamp_type="LogAppendTime")
    run.send("log append time", produce(topic, record_batch(THREE)))
    look(run, "stored", topic)
    strict = run.topic("b", compression_type="lz4", message_timestamp_before_max_ms="1000")
    run.send("long ago", produce(strict, record_batch(["x", "y"], codec=GZIP)))
    late = run.topic("c", compression_type="lz4")
    records: list[Record] = ["a", ("k", "v", [], YEAR_2096)]
    run.send("two, one in the future", produce(late, record_batch(records, codec=GZIP)))
    run.send("no timestamp", produce(late, record_batch(["z"], timestamp=-1)))


@scenario("produce")
def recompression_of_duplicates(run: ScenarioRun) -> None:
    topic = run.topic("a", compression_type="uncompressed")
    producer_id = new_producer(run)
    for step, sequence in (("first", 0), ("again", 0), ("second", 3), ("first, again", 0)):
        batch = record_batch(THREE, producer_id=producer_id, epoch=0, sequence=sequence, codec=ZSTD)
        run.send(step, produce(topic, batch))
    gap = record_batch(THREE, producer_id=producer_id, epoch=0, sequence=9, codec=ZSTD)
    run.send("a gap", produce(topic, gap))
    look(run, "stored", topic)


@scenario("produce")
def recompression_and_sizes(run: ScenarioRun) -> None:
    opens = run.topic("a", compression_type="uncompressed", max_message_bytes="1000")
    run.send("fits only compressed", produce(opens, record_batch(["x" * 5000], codec=GZIP)))
    beside = len(record_batch(["x" * 900])) - 900
    fit, over = (record_batch(["x" * (size - beside)], codec=GZIP) for size in (1000, 1001))
    run.send("exactly the limit", produce(opens, fit))
    run.send("one byte more", produce(opens, over))
    packs = run.topic("b", compression_type="gzip", max_message_bytes="1000")
    run.send("would fit when compressed", produce(packs, record_batch(["x" * 5000])))
    nothing = run.topic("c", max_message_bytes="0")
    run.send("no batch is small enough", produce(nothing, record_batch(["x"])))


@scenario("produce")
def recompression_of_broken_batches(run: ScenarioRun) -> None:
    topic = run.topic("a", compression_type="lz4")
    for name, codec in CODECS.items():
        good = record_batch(["one", "two"], codec=codec)
        run.send(f"checksum, {name}", produce(topic, broken(good)))
        if codec != NONE:
            other = record_batch(["one", "two"], codec=codec)
            struct.pack_into(">h", other, 21, 2 if codec == GZIP else GZIP)
            run.send(f"not {name}", produce(topic, with_checksum(other)))
            cut = record_batch(["one", "two" * 50], codec=codec)[:-5]
            struct.pack_into(">i", cut, 8, len(cut) - 12)
            run.send(f"half, {name}", produce(topic, with_checksum(cut)))
        garbage = record_batch(["one"], payload=b"\7" * 9, codec=codec)
        run.send(f"garbage, {name}", produce(topic, garbage))
    run.send("codec 5", produce(topic, record_batch(["a"], codec=5)))
    run.send("no records", produce(topic, record_batch([], codec=GZIP)))


def with_checksum(batch: bytearray) -> bytearray:
    struct.pack_into(">I", batch, 17, crc32c(bytes(batch[21:])))
    return batch


@scenario("produce")
def recompression_of_a_compacted_topic(run: ScenarioRun) -> None:
    topic = run.topic("a", cleanup_policy="compact", compression_type="zstd")
    for name, codec in CODECS.items():
        mixed = record_batch(["x", ("k", "v", [], TIMESTAMP)], codec=codec)
        run.send(f"no key, {name}", produce(topic, mixed))
        run.send(f"keys, {name}", produce(topic, record_batch(THREE, codec=codec)))
    look(run, "stored", topic)
