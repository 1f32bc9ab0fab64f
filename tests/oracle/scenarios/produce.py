from __future__ import annotations

import struct

from interfaces.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from interfaces.kafka.wire.messages.produce import ProduceRequest
from tests.fakes.batches import GZIP, LZ4, SNAPPY, TIMESTAMP, ZSTD, Record, record_batch
from tests.fakes.config_requests import TOPIC
from tests.oracle.configs import set_config
from tests.oracle.requests import (
    OFFSETS,
    SHARES,
    TRANSACTIONS,
    UNKNOWN_ID,
    UNKNOWN_TOPIC,
    fetch,
    produce,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import SHORT_PATIENCE_S, ScenarioRun, Topic

YEAR_2096 = 4_000_000_000_000


def look(run: ScenarioRun, step: str, topic: Topic, offset: int = 0, partition: int = 0) -> None:
    """The stored records by Fetch, in its last version with topic names."""
    run.send(step, fetch((topic, partition, offset)), version=13)


@scenario("produce")
def good_batches(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    run.send("one record", produce(topic, record_batch(["one"])))
    run.send("three records", produce(topic, record_batch(["two", None, "four"])))
    headers = record_batch([("k", "v", [("h", b"1"), ("h", None)], TIMESTAMP + 5)])
    run.send("headers", produce(topic, headers))
    run.send("two partitions", produce(topic, record_batch(["x"]), record_batch(["y"])))
    run.send("acks 1", produce(topic, record_batch(["z"]), acks=1))
    run.send("acks 0", produce(topic, record_batch(["z"]), acks=0))
    run.send("acks 1 again", produce(topic, record_batch(["z"]), acks=1))
    run.send("no timestamp", produce(topic, record_batch(["z"], timestamp=-1)))
    run.send("a negative timestamp", produce(topic, record_batch(["z"], timestamp=-7)))
    look(run, "stored", topic)
    look(run, "stored in the second partition", topic, partition=1)


@scenario("produce")
def compressed_batches(run: ScenarioRun) -> None:
    topic = run.topic("a")
    for name, codec in (("gzip", GZIP), ("snappy", SNAPPY), ("lz4", LZ4), ("zstd", ZSTD)):
        run.send(name, produce(topic, record_batch(["aaaa", "bbbb"], codec=codec)))
    for codec in (5, 6, 7):
        run.send(f"codec {codec}", produce(topic, record_batch(["a"], codec=codec)))


@scenario("produce")
def log_append_time(run: ScenarioRun) -> None:
    topic = run.topic("a", message_timestamp_type="LogAppendTime")
    run.send("one record", produce(topic, record_batch(["one"])))
    run.send("flagged by the producer", produce(topic, record_batch(["one"], log_append_time=True)))
    run.send("a future timestamp", produce(topic, record_batch(["x"], timestamp=YEAR_2096)))
    look(run, "stored", topic)


@scenario("produce")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic = run.topic("a")
    batch = record_batch(["one"])
    run.send("unknown topic", produce(UNKNOWN_TOPIC, batch))
    run.send("unknown partition", produce(topic, batch, partition=1))
    run.send("negative partition", produce(topic, batch, partition=-1))
    run.send("known and unknown partition", produce(topic, batch, record_batch(["x"])))
    run.send("no topic", ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[]))
    run.send("no partition", produce(topic))
    run.send("an illegal name", produce(Topic("a b", bytes(16)), batch))


@scenario("produce", last=12)
def internal_topics(run: ScenarioRun) -> None:
    batch = record_batch(["a"])
    run.send("__consumer_offsets", produce(Topic(OFFSETS, UNKNOWN_ID), batch))
    run.send("__transaction_state", produce(Topic(TRANSACTIONS, UNKNOWN_ID), batch))
    run.send("not created yet", produce(Topic(SHARES, UNKNOWN_ID), batch))


@scenario("produce")
def refusals_with_acks_0(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("unknown partition", produce(topic, record_batch(["x"]), partition=1, acks=0))
    run.send("a broken checksum", produce(topic, broken(record_batch(["x"])), acks=0))
    run.send("nothing", ProduceRequest(acks=0, timeout_ms=1000, topic_data=[]))


@scenario("produce")
def illegal_acks(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    for acks in (2, -2, 32767):
        batches = record_batch(["x"]), record_batch(["y"])
        run.send(f"acks {acks}", produce(topic, *batches, acks=acks))
    run.send("and an unknown topic", produce(UNKNOWN_TOPIC, record_batch(["x"]), acks=2))


def broken(batch: bytearray) -> bytearray:
    batch[-1] ^= 1
    return batch


@scenario("produce")
def broken_batches(run: ScenarioRun) -> None:
    topic = run.topic("a", 1)
    good = record_batch(["one", "two"])
    run.send("checksum", produce(topic, broken(record_batch(["one"]))))
    run.send("base offset 5", produce(topic, record_batch(["one"], base_offset=5)))
    run.send("leader epoch 9", produce(topic, record_batch(["one"], leader_epoch=9)))
    run.send("count too large", produce(topic, record_batch(["one"], count=2)))
    run.send("count too small", produce(topic, record_batch(["one", "two"], count=1)))
    run.send("count negative", produce(topic, record_batch(["one"], count=-1)))
    run.send("no records", produce(topic, record_batch([])))
    gap = record_batch(["one", "two"], last_offset_delta=2)
    run.send("last offset delta too large", produce(topic, gap))
    negative = record_batch(["one"], last_offset_delta=-1)
    run.send("last offset delta negative", produce(topic, negative))
    run.send("control", produce(topic, record_batch(["one"], control=True)))
    run.send("two batches", produce(topic, good + good))
    run.send("half a batch", produce(topic, good[:70]))
    run.send("half a header", produce(topic, good[:40]))
    run.send("one byte", produce(topic, good[:1]))
    run.send("a batch and a half", produce(topic, good + good[:70]))
    run.send("a batch and a byte", produce(topic, good + b"\0"))
    run.send("no bytes", produce(topic, b""))
    for magic in (0, 1, 3, -1):
        run.send(f"magic {magic}", produce(topic, with_magic(good, magic)))
    for length in (0, 13, 48, -1, 1 << 30):
        data = bytearray(good)
        struct.pack_into(">i", data, 8, length)
        run.send(f"a length of {length}", produce(topic, data))
    look(run, "stored", topic)


def with_magic(batch: bytearray, magic: int) -> bytearray:
    data = bytearray(batch)
    data[16] = magic & 0xFF
    return data


@scenario("produce")
def invalid_records(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("garbage", produce(topic, record_batch(["one"], payload=b"\x7f" * 20)))
    run.send("garbage, gzip", produce(topic, record_batch(["one"], payload=b"\7" * 9, codec=GZIP)))
    run.send("empty", produce(topic, record_batch(["one"], payload=b"")))
    flagged = record_batch(["one"], log_append_time=True)
    run.send("flagged as log append time", produce(topic, flagged))
    late = record_batch(["one"], max_timestamp=TIMESTAMP + 1000)
    run.send("a largest timestamp that no record has", produce(topic, late))
    early = record_batch(["one"], max_timestamp=TIMESTAMP - 1000)
    run.send("a largest timestamp below the records'", produce(topic, early))


@scenario("produce")
def null_records(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("null", produce(topic, None), patience_s=SHORT_PATIENCE_S)
    run.send("the next one", produce(topic, record_batch(["x"])))


@scenario("produce")
def sizes(run: ScenarioRun) -> None:
    topic = run.topic("a", max_message_bytes="1000")
    beside = len(record_batch(["x" * 900])) - 900
    fit, over = (record_batch(["x" * (size - beside)]) for size in (1000, 1001))
    assert (len(fit), len(over)) == (1000, 1001)
    run.send("exactly the limit", produce(topic, fit))
    run.send("one byte more", produce(topic, over))
    run.send("far more", produce(topic, record_batch(["x" * 5000])))
    run.send("small when compressed", produce(topic, record_batch(["x" * 5000], codec=GZIP)))
    segment = 1 << 20
    topic = run.topic("b", max_message_bytes=str(2 * segment), segment_bytes=str(segment))
    beside = len(record_batch(["x" * 900_000])) - 900_000
    for step, size in (("as large as a segment", segment), ("larger than a segment", segment + 1)):
        run.send(step, produce(topic, record_batch(["x" * (size - beside)])))


@scenario("produce")
def timestamps_out_of_range(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("a future timestamp", produce(topic, record_batch(["x"], timestamp=YEAR_2096)))
    records: list[Record] = ["a", ("k", "v", [], YEAR_2096), "c", ("k", "v", [], YEAR_2096 + 1)]
    run.send("two of four", produce(topic, record_batch(records)))
    strict = run.topic("b", message_timestamp_before_max_ms="1000")
    run.send("long ago", produce(strict, record_batch(["x", "y"])))
    now = run.topic("c", message_timestamp_before_max_ms="0", message_timestamp_after_max_ms="0")
    run.send("no time is allowed", produce(now, record_batch(["x"])))
    run.send("no timestamp", produce(now, record_batch(["x"], timestamp=-1)))
    past = run.topic("d", message_timestamp_after_max_ms="0")
    run.send("the past", produce(past, record_batch(["x"])))


@scenario("produce")
def a_compacted_topic(run: ScenarioRun) -> None:
    topic = run.topic("a", cleanup_policy="compact")
    run.send("keys", produce(topic, record_batch([("k", "v", [], TIMESTAMP)])))
    run.send("no key", produce(topic, record_batch(["x"])))
    mixed = record_batch(["x", ("k", "v", [], TIMESTAMP), "z"])
    run.send("one key of three", produce(topic, mixed))
    run.send("an empty key", produce(topic, record_batch([("", "v", [], TIMESTAMP)])))
    run.send("compressed", produce(topic, record_batch(["x"], codec=GZIP)))


@scenario("produce", first=13)
def configs_altered_between_two_requests(run: ScenarioRun) -> None:
    topic = run.topic("a", segment_ms=str(2**63 - 1), retention_ms="-1")
    batch = record_batch([("k", "v" * 100, [], TIMESTAMP), "no key"], codec=GZIP)
    run.send("before", produce(topic, batch))
    for name, text in (
        ("compression.type", "uncompressed"),
        ("message.timestamp.type", "LogAppendTime"),
        ("message.timestamp.type", "CreateTime"),
        ("message.timestamp.before.max.ms", "1000"),
        ("message.timestamp.before.max.ms", str(2**63 - 1)),
        ("max.message.bytes", "70"),
        ("max.message.bytes", "1000"),
        ("cleanup.policy", "compact"),
    ):
        set_config(run, TOPIC, topic.name, name, text)
        run.send(f"{name}={text}", produce(topic, batch))
    look(run, "stored", topic)


@scenario("produce")
def more_in_sync_replicas_than_brokers(run: ScenarioRun) -> None:
    topic = run.topic("a", min_insync_replicas="2")
    for acks in (-1, 1, 0):
        run.send(f"acks {acks}", produce(topic, record_batch(["x"]), acks=acks))
    look(run, "stored", topic)


@scenario("produce")
def idempotent_producers(run: ScenarioRun) -> None:
    topic = run.topic("a", 3)
    producer_id = new_producer(run)

    def send(step: str, sequence: int, count: int = 1, epoch: int = 0, partition: int = 0) -> None:
        batch = record_batch(["x"] * count, producer_id=producer_id, epoch=epoch, sequence=sequence)
        run.send(step, produce(topic, batch, partition=partition))

    send("the first", 0)
    send("the second, three records", 1, 3)
    send("the second again", 1, 3)
    send("the first again", 0)
    send("a part of the second", 2)
    send("a gap", 9)
    for sequence in range(4, 9):
        send(f"sequence {sequence}", sequence)
    send("older than the last five", 0)
    send("a new epoch from 5", 5, epoch=2)
    send("a new epoch from 0", 0, epoch=2)
    send("an old epoch", 1, epoch=1)
    send("another partition from 7", 7, partition=1)
    send("the next sequence", 8, partition=1)
    send("the last sequence number", 2**31 - 1, partition=2)
    send("sequence wraps around", 0, partition=2)
    look(run, "stored", topic)


@scenario("produce")
def illegal_producers(run: ScenarioRun) -> None:
    topic = run.topic("a")
    producer_id = new_producer(run)

    def send(step: str, **of: int) -> None:
        run.send(step, produce(topic, record_batch(["x"], **of)))  # type: ignore[arg-type]

    send("no sequence", producer_id=producer_id, epoch=0)
    send("no epoch", producer_id=producer_id, sequence=0)
    send("a sequence and no producer", sequence=3)
    send("an epoch and no producer", epoch=3)
    send("sequence -2", producer_id=producer_id, epoch=0, sequence=-2)
    send("producer -2", producer_id=-2, epoch=0, sequence=0)
    send("an unassigned producer id", producer_id=1 << 40, epoch=0, sequence=0)
    send("its next sequence", producer_id=1 << 40, epoch=0, sequence=1)


@scenario("produce")
def a_duplicate_with_log_append_time(run: ScenarioRun) -> None:
    topic = run.topic("a", message_timestamp_type="LogAppendTime")
    producer_id = new_producer(run)
    for step in ("first", "again"):
        batch = record_batch(["x"], producer_id=producer_id, epoch=0, sequence=0)
        run.send(step, produce(topic, batch))


def new_producer(run: ScenarioRun) -> int:
    response = run.call(
        InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000),
        InitProducerIdResponse,
        4,
    )
    run.placeholders.add_producer(response.producer_id)
    producer_id: int = response.producer_id
    return producer_id


@scenario("produce")
def a_partition_twice(run: ScenarioRun) -> None:
    topic = run.topic("a")
    request = produce(topic, record_batch(["one"]))
    [data] = request.topic_data[0].partition_data
    request.topic_data[0].partition_data = [data, data]
    run.send("in one topic", request)
    look(run, "stored", topic)


@scenario("produce")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "produce", b"")
    run.send_raw("half a body", "produce", b"\xff\xff\0\x01\0" if run.version < 9 else b"\0\0\x01")
    behind = b"".join(ProduceRequest(acks=-1, timeout_ms=9, topic_data=[]).encode(run.version))
    run.send_raw("bytes behind the body", "produce", bytes(behind) + b"more")


@scenario("produce", last=3)
def unsupported_versions(run: ScenarioRun) -> None:
    for version in (0, 1, 2, 14, -1):
        frame = struct.pack(">hhihhii", 0, version, 7, -1, 1, 1000, 0)
        run.send_frame(f"version {version}", frame)
