from __future__ import annotations

import struct

from interfaces.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from interfaces.kafka.wire.messages.produce import ProduceRequest
from tests.fakes.batches import GZIP, LZ4, SNAPPY, TIMESTAMP, ZSTD, Record, record_batch
from tests.oracle.requests import NOBODY, OFFSETS, SHARES, UNKNOWN_ID, fetch, produce
from tests.oracle.scenario import scenario
from tests.oracle.teller import SHORT_PATIENCE_S, Teller, Topic

YEAR_2096 = 4_000_000_000_000


def look(tell: Teller, step: str, topic: Topic, offset: int = 0, partition: int = 0) -> None:
    """What became of it, as Fetch shows it, in the last version that is for consumers."""
    tell.ask(step, fetch((topic, partition, offset)), version=13)


@scenario("produce")
def good_batches(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    tell.ask("one record", produce(topic, record_batch(["one"])))
    tell.ask("three records", produce(topic, record_batch(["two", None, "four"])))
    headers = record_batch([("k", "v", [("h", b"1"), ("h", None)], TIMESTAMP + 5)])
    tell.ask("headers", produce(topic, headers))
    tell.ask("two partitions", produce(topic, record_batch(["x"]), record_batch(["y"])))
    tell.ask("acks 1", produce(topic, record_batch(["z"]), acks=1))
    tell.ask("acks 0", produce(topic, record_batch(["z"]), acks=0))
    tell.ask("acks 1 again", produce(topic, record_batch(["z"]), acks=1))
    tell.ask("no timestamp", produce(topic, record_batch(["z"], timestamp=-1)))
    tell.ask("a negative timestamp", produce(topic, record_batch(["z"], timestamp=-7)))
    look(tell, "stored", topic)
    look(tell, "stored in the second partition", topic, partition=1)


@scenario("produce")
def compressed_batches(tell: Teller) -> None:
    topic = tell.topic("a")
    for name, codec in (("gzip", GZIP), ("snappy", SNAPPY), ("lz4", LZ4), ("zstd", ZSTD)):
        tell.ask(name, produce(topic, record_batch(["aaaa", "bbbb"], codec=codec)))
    for codec in (5, 6, 7):
        tell.ask(f"codec {codec}", produce(topic, record_batch(["a"], codec=codec)))


@scenario("produce")
def a_server_that_stamps(tell: Teller) -> None:
    topic = tell.topic("a", message_timestamp_type="LogAppendTime")
    tell.ask("one record", produce(topic, record_batch(["one"])))
    tell.ask("flagged already", produce(topic, record_batch(["one"], log_append_time=True)))
    tell.ask("a time to come", produce(topic, record_batch(["x"], timestamp=YEAR_2096)))
    look(tell, "stored", topic)


@scenario("produce")
def places_that_there_are_not(tell: Teller) -> None:
    topic = tell.topic("a")
    batch = record_batch(["one"])
    tell.ask("unknown topic", produce(NOBODY, batch))
    tell.ask("unknown partition", produce(topic, batch, partition=1))
    tell.ask("negative partition", produce(topic, batch, partition=-1))
    tell.ask("known and unknown partition", produce(topic, batch, record_batch(["x"])))
    tell.ask("no topic at all", ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[]))
    tell.ask("no partition", produce(topic))
    tell.ask("an illegal name", produce(Topic("a b", bytes(16)), batch))


@scenario("produce", last=12)
def internal_topics(tell: Teller) -> None:
    batch = record_batch(["a"])
    tell.ask("of committed offsets", produce(Topic(OFFSETS, UNKNOWN_ID), batch))
    tell.ask("not created yet", produce(Topic(SHARES, UNKNOWN_ID), batch))


@scenario("produce")
def refusals_with_no_acks(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("unknown partition", produce(topic, record_batch(["x"]), partition=1, acks=0))
    tell.ask("a broken checksum", produce(topic, broken(record_batch(["x"])), acks=0))
    tell.ask("nothing", ProduceRequest(acks=0, timeout_ms=1000, topic_data=[]))


@scenario("produce")
def illegal_acks(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    for acks in (2, -2, 32767):
        batches = record_batch(["x"]), record_batch(["y"])
        tell.ask(f"acks {acks}", produce(topic, *batches, acks=acks))
    tell.ask("and an unknown topic", produce(NOBODY, record_batch(["x"]), acks=2))


def broken(batch: bytearray) -> bytearray:
    batch[-1] ^= 1
    return batch


@scenario("produce")
def broken_batches(tell: Teller) -> None:
    topic = tell.topic("a", 1)
    good = record_batch(["one", "two"])
    tell.ask("checksum", produce(topic, broken(record_batch(["one"]))))
    tell.ask("base offset 5", produce(topic, record_batch(["one"], base_offset=5)))
    tell.ask("leader epoch 9", produce(topic, record_batch(["one"], leader_epoch=9)))
    tell.ask("count too large", produce(topic, record_batch(["one"], count=2)))
    tell.ask("count too small", produce(topic, record_batch(["one", "two"], count=1)))
    tell.ask("count negative", produce(topic, record_batch(["one"], count=-1)))
    tell.ask("no records", produce(topic, record_batch([])))
    gap = record_batch(["one", "two"], last_offset_delta=2)
    tell.ask("last offset delta too large", produce(topic, gap))
    negative = record_batch(["one"], last_offset_delta=-1)
    tell.ask("last offset delta negative", produce(topic, negative))
    tell.ask("control", produce(topic, record_batch(["one"], control=True)))
    tell.ask("two batches", produce(topic, good + good))
    tell.ask("half a batch", produce(topic, good[:70]))
    tell.ask("half a header", produce(topic, good[:40]))
    tell.ask("one byte", produce(topic, good[:1]))
    tell.ask("a batch and a half", produce(topic, good + good[:70]))
    tell.ask("a batch and a byte", produce(topic, good + b"\0"))
    tell.ask("no bytes", produce(topic, b""))
    for magic in (0, 1, 3, -1):
        tell.ask(f"magic {magic}", produce(topic, with_magic(good, magic)))
    for length in (0, 13, 48, -1, 1 << 30):
        data = bytearray(good)
        struct.pack_into(">i", data, 8, length)
        tell.ask(f"a length of {length}", produce(topic, data))
    look(tell, "stored", topic)


def with_magic(batch: bytearray, magic: int) -> bytearray:
    data = bytearray(batch)
    data[16] = magic & 0xFF
    return data


@scenario("produce")
def payloads_that_are_not_records(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("garbage", produce(topic, record_batch(["one"], payload=b"\x7f" * 20)))
    tell.ask("garbage, gzip", produce(topic, record_batch(["one"], payload=b"\7" * 9, codec=GZIP)))
    tell.ask("empty", produce(topic, record_batch(["one"], payload=b"")))
    flagged = record_batch(["one"], log_append_time=True)
    tell.ask("flagged as stamped by the broker", produce(topic, flagged))
    late = record_batch(["one"], max_timestamp=TIMESTAMP + 1000)
    tell.ask("a largest timestamp that no record has", produce(topic, late))
    early = record_batch(["one"], max_timestamp=TIMESTAMP - 1000)
    tell.ask("a largest timestamp below the records'", produce(topic, early))


@scenario("produce")
def null_records(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("null", produce(topic, None), patience_s=SHORT_PATIENCE_S)
    tell.ask("the next one", produce(topic, record_batch(["x"])))


@scenario("produce")
def sizes(tell: Teller) -> None:
    topic = tell.topic("a", max_message_bytes="1000")
    beside = len(record_batch(["x" * 900])) - 900
    fit, over = (record_batch(["x" * (size - beside)]) for size in (1000, 1001))
    assert (len(fit), len(over)) == (1000, 1001)
    tell.ask("as large as may be", produce(topic, fit))
    tell.ask("larger by one", produce(topic, over))
    tell.ask("by far", produce(topic, record_batch(["x" * 5000])))
    tell.ask("small when compressed", produce(topic, record_batch(["x" * 5000], codec=GZIP)))


@scenario("produce")
def times_out_of_range(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("a time to come", produce(topic, record_batch(["x"], timestamp=YEAR_2096)))
    records: list[Record] = ["a", ("k", "v", [], YEAR_2096), "c", ("k", "v", [], YEAR_2096 + 1)]
    tell.ask("two of four", produce(topic, record_batch(records)))
    strict = tell.topic("b", message_timestamp_before_max_ms="1000")
    tell.ask("long ago", produce(strict, record_batch(["x", "y"])))


@scenario("produce")
def a_compacted_topic(tell: Teller) -> None:
    topic = tell.topic("a", cleanup_policy="compact")
    tell.ask("keys", produce(topic, record_batch([("k", "v", [], TIMESTAMP)])))
    tell.ask("no key", produce(topic, record_batch(["x"])))
    mixed = record_batch(["x", ("k", "v", [], TIMESTAMP), "z"])
    tell.ask("one key of three", produce(topic, mixed))
    tell.ask("an empty key", produce(topic, record_batch([("", "v", [], TIMESTAMP)])))
    tell.ask("compressed", produce(topic, record_batch(["x"], codec=GZIP)))


@scenario("produce")
def idempotent_producers(tell: Teller) -> None:
    topic = tell.topic("a", 3)
    producer_id = new_producer(tell)

    def send(step: str, sequence: int, count: int = 1, epoch: int = 0, partition: int = 0) -> None:
        batch = record_batch(["x"] * count, producer_id=producer_id, epoch=epoch, sequence=sequence)
        tell.ask(step, produce(topic, batch, partition=partition))

    send("the first", 0)
    send("the second, three records", 1, 3)
    send("the second again", 1, 3)
    send("the first again", 0)
    send("a part of the second", 2)
    send("a gap", 9)
    for sequence in range(4, 9):
        send(f"sequence {sequence}", sequence)
    send("one that is forgotten", 0)
    send("a new epoch from 5", 5, epoch=2)
    send("a new epoch from 0", 0, epoch=2)
    send("an old epoch", 1, epoch=1)
    send("another partition from 7", 7, partition=1)
    send("after that", 8, partition=1)
    send("up to the last number", 2**31 - 1, partition=2)
    send("and around", 0, partition=2)
    look(tell, "stored", topic)


@scenario("produce")
def illegal_producers(tell: Teller) -> None:
    topic = tell.topic("a")
    producer_id = new_producer(tell)

    def send(step: str, **of: int) -> None:
        tell.ask(step, produce(topic, record_batch(["x"], **of)))  # type: ignore[arg-type]

    send("no sequence", producer_id=producer_id, epoch=0)
    send("no epoch", producer_id=producer_id, sequence=0)
    send("a sequence and no producer", sequence=3)
    send("an epoch and no producer", epoch=3)
    send("sequence -2", producer_id=producer_id, epoch=0, sequence=-2)
    send("producer -2", producer_id=-2, epoch=0, sequence=0)
    send("an id that nobody was given", producer_id=1 << 40, epoch=0, sequence=0)
    send("and its next", producer_id=1 << 40, epoch=0, sequence=1)


@scenario("produce")
def a_duplicate_in_a_topic_that_stamps(tell: Teller) -> None:
    topic = tell.topic("a", message_timestamp_type="LogAppendTime")
    producer_id = new_producer(tell)
    for step in ("first", "again"):
        batch = record_batch(["x"], producer_id=producer_id, epoch=0, sequence=0)
        tell.ask(step, produce(topic, batch))


def new_producer(tell: Teller) -> int:
    answer = tell.call(
        InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000),
        InitProducerIdResponse,
        4,
    )
    tell.placeholders.add_producer(answer.producer_id)
    given: int = answer.producer_id
    return given


@scenario("produce")
def transactions(tell: Teller) -> None:
    topic = tell.topic("a")
    plain = record_batch(["x"])
    tell.ask("an id, and a plain batch", produce(topic, plain, transactional_id="oracle"))
    flagged = record_batch(
        ["x"], transactional=True, producer_id=new_producer(tell), epoch=0, sequence=0
    )
    tell.ask("no id, and a batch of a transaction", produce(topic, flagged))


@scenario("produce")
def a_partition_twice(tell: Teller) -> None:
    topic = tell.topic("a")
    request = produce(topic, record_batch(["one"]))
    [data] = request.topic_data[0].partition_data
    request.topic_data[0].partition_data = [data, data]
    tell.ask("in one topic", request)
    look(tell, "stored", topic)


@scenario("produce")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "produce", b"")
    tell.ask_raw("half a body", "produce", b"\xff\xff\0\x01\0" if tell.version < 9 else b"\0\0\x01")
    behind = b"".join(ProduceRequest(acks=-1, timeout_ms=9, topic_data=[]).encode(tell.version))
    tell.ask_raw("bytes behind the body", "produce", bytes(behind) + b"more")


@scenario("produce", last=3)
def versions_that_are_not_served(tell: Teller) -> None:
    for version in (0, 1, 2, 14, -1):
        frame = struct.pack(">hhihhii", 0, version, 7, -1, 1, 1000, 0)
        tell.ask_frame(f"version {version}", frame)
