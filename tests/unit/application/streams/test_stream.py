"""The stream of a topic that Kafka producers, retention and compaction change, too."""

from __future__ import annotations

import pytest

from application.partitions.delete_records import RecordsToDelete
from application.ports.pending import Pending
from application.streams import blocks
from application.streams.blocks import Block, Blocks
from domain.messages.batch import RecordBatch
from tests.fakes.batches import GZIP, ZSTD, record_batch
from tests.fakes.raw import TOPIC, FakeRaw, RawClient


def deleted_below(raw: FakeRaw, offset: int) -> None:
    partition = raw.partition(TOPIC)
    raw.broker.messages.delete_records.delete([RecordsToDelete(TOPIC, 0, offset)])
    raw.run()
    raw.scheduler.advance(1000)
    assert partition.log_start_offset == offset


def chunks(raw: FakeRaw) -> int:
    return len(raw.core.storage.state.scan("positions"))


def started_at(raw: FakeRaw, position: int) -> RawClient:
    client = raw.consumer(position)
    assert not client.transport.closing, raw.why_closed()
    return client


def test_records_of_kafka_producers_have_positions_by_their_values() -> None:
    raw = FakeRaw()
    raw.topic(TOPIC)
    raw.appended(record_batch(["ab", (b"k", None, [], 1_700_000), "cde"]), TOPIC)
    raw.appended(record_batch(["f" * 100] * 50, codec=GZIP), TOPIC)
    raw.appended(record_batch(["last"], codec=ZSTD), TOPIC)
    assert raw.produce(b"raw") == [17 + 50 * 104 + 8]
    assert raw.consumer(6).records() == [b"", b"cde", *[b"f" * 100] * 50, b"last", b"raw"]
    assert started_at(raw, 17 + 49 * 104).records() == [b"f" * 100, b"last", b"raw"]


def test_positions_are_told_when_the_index_has_reached_them() -> None:
    """Behind a batch of a Kafka producer in the same commit."""
    raw = FakeRaw()
    producer = raw.producer()
    producer.send(b"one")
    raw.run()
    raw.append(record_batch(["two"]), TOPIC)
    producer.send(b"three")
    raw.append(record_batch(["four"]), TOPIC)
    producer.send(b"five")
    raw.run()
    assert producer.positions() == [0, 14, 31]
    assert raw.consumer(7).records() == [b"two", b"three", b"four", b"five"]


def test_nothing_is_indexed_without_clients_of_the_stream() -> None:
    raw = FakeRaw()
    raw.topic(TOPIC)
    raw.appended(record_batch(["one"]), TOPIC)
    assert chunks(raw) == 0
    consumer = raw.consumer()
    assert (consumer.records(), chunks(raw)) == ([b"one"], 1)
    consumer.transport.drop()
    raw.run()
    raw.appended(record_batch(["two"]), TOPIC)
    assert chunks(raw) == 1
    assert len(raw.core.purgatory) == 0


def test_positions_continue_after_a_restart() -> None:
    raw = FakeRaw()
    raw.produce(b"one", b"two")
    raw.appended(record_batch(["three"]), TOPIC)
    raw = raw.restarted()
    assert raw.produce(b"four") == [23]
    raw = raw.restarted()
    assert raw.consumer(7).records() == [b"two", b"three", b"four"]


def test_positions_continue_after_all_records_are_deleted() -> None:
    raw = FakeRaw()
    for number in range(10):
        raw.produce(b"record %d" % number)
    deleted_below(raw, 10)
    assert chunks(raw) == 1
    raw = raw.restarted()
    assert raw.produce(b"next") == [120]
    assert raw.consumer(120).records() == [b"next"]


@pytest.mark.parametrize("start", [0, 5, 12, 24])
def test_a_start_before_the_oldest_record_begins_there(start: int) -> None:
    raw = FakeRaw()
    for number in range(10):
        raw.produce(b"record %d" % number)
    deleted_below(raw, 8)
    assert raw.consumer(start).records() == [b"record 8", b"record 9"]
    assert raw.consumer(108).records() == [b"record 9"]


def test_a_start_before_the_oldest_record_is_refused_by_a_setting() -> None:
    raw = FakeRaw(raw_auto_offset_reset="none")
    raw.produce(b"one", b"two", b"three")
    deleted_below(raw, 2)
    assert raw.consumer(0).transport.closing
    assert raw.consumer(7).transport.closing
    assert raw.why_closed() == ["invalid_start"]
    assert started_at(raw, 14).records() == [b"three"]


def test_records_below_the_log_start_within_a_batch_are_not_sent() -> None:
    raw = FakeRaw()
    raw.produce(b"one", b"two", b"three")
    deleted_below(raw, 1)
    assert raw.consumer(0).records() == [b"two", b"three"]


def test_compaction_does_not_change_positions() -> None:
    raw = FakeRaw()
    raw.topic(TOPIC, cleanup_policy="compact")
    rows = [(b"%d" % (number % 3), b"value %d" % number, [], 1_700_000) for number in range(6)]
    raw.appended(record_batch(rows), TOPIC)
    assert len(raw.consumer().records()) == 6
    partition_id = raw.existing(TOPIC).partition_ids[0]
    batch = record_batch(rows[3:], base_offset=3, last_offset_delta=2)
    raw.log.replace(partition_id, 0, 5, [bytes(batch)], [])
    raw.core.commits.touch(raw.partition(TOPIC))
    raw.run()
    raw = raw.restarted()
    assert raw.consumer(0).records() == [b"value 3", b"value 4", b"value 5"]
    assert raw.consumer(44).records() == [b"value 4", b"value 5"]
    raw.appended(record_batch([(b"9", b"last", [], 1_700_000)]), TOPIC)
    assert raw.consumer(66).records() == [b"last"]


def test_records_that_compaction_removed_are_not_sent_from_memory() -> None:
    raw = FakeRaw()
    raw.topic(TOPIC, cleanup_policy="compact")
    with_a_tail = raw.consumer()
    raw.appended(record_batch([(b"key", b"old", [], 1), (b"key", b"new", [], 1)]), TOPIC)
    assert raw.consumer().records() == with_a_tail.records() == [b"old", b"new"]
    partition = raw.partition(TOPIC)
    batch = record_batch([(b"key", b"new", [], 1)], base_offset=1)
    raw.log.replace(partition.partition_id, 0, 1, [bytes(batch)], [])
    partition.cleaned_up_to(2, len(batch))
    raw.core.commits.touch(partition)
    raw.run()
    assert raw.consumer().records() == [b"new"]


def test_a_consumer_may_wait_for_the_index() -> None:
    raw = FakeRaw()
    raw.produce(b"one")
    for _ in range(5):
        raw.appended(record_batch(["x" * 60_000]), TOPIC)
    assert raw.consumer(7 + 4 * 60_004).records() == [b"x" * 60_000]


def test_control_batches_have_no_records() -> None:
    raw = FakeRaw()
    raw.topic(TOPIC)
    partition = raw.partition(TOPIC)
    marker = RecordBatch(memoryview(record_batch([(b"\0\0\0\0", b"\0" * 6, [], 1)], control=True)))
    raw.produce(b"one")
    appended = partition.adopt(marker)
    raw.log.append(partition.partition_id, appended.last_offset, marker.buffer)
    raw.core.commits.touch(partition)
    raw.run()
    assert raw.produce(b"two") == [7]
    assert raw.consumer().records() == [b"one", b"two"]


def test_a_batch_that_cannot_be_opened_is_left_out_and_logged() -> None:
    raw = FakeRaw()
    raw.produce(b"one")
    raw.appended(record_batch(["damaged"], payload=b"\xff" * 20), TOPIC)
    assert raw.produce(b"two") == [7]
    assert raw.consumer().records() == [b"one", b"two"]
    [line] = raw.events.of("stream_batch_skipped")
    assert (line["topic"], line["partition"], line["offset"]) == (TOPIC, 0, 1)


def test_a_failed_commit_of_the_index_is_repeated() -> None:
    raw = FakeRaw()
    raw.produce(b"one")
    consumer = raw.consumer()
    raw.append(record_batch(["two"]), TOPIC)
    raw.scheduler.run_pass()
    raw.commit.fail_next()
    raw.scheduler.advance(60_000)
    assert consumer.records() == [b"one", b"two"]
    assert raw.produce(b"three") == [14]


def test_records_that_are_not_in_memory_are_waited_for() -> None:
    raw = FakeRaw()
    raw.produce(b"one")
    raw = raw.restarted()
    raw.log.loading = Pending()
    producer = raw.producer()
    producer.send(b"two")
    assert not producer.transport.reading
    raw.log.load()
    raw.run()
    assert producer.positions() == [7]
    raw.log.loading = Pending()
    consumer = raw.consumer()
    assert consumer.records() == []
    raw.log.load()
    raw.run()
    assert consumer.records() == [b"one", b"two"]


def test_consumers_near_each_other_share_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = FakeRaw()
    raw.produce(b"one", b"two")
    reads = 0
    real = raw.log.read_to

    def counted(*arguments: object) -> object:
        nonlocal reads
        reads += 1
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(type(raw.log), "read_to", lambda _, *arguments: counted(*arguments))
    consumers = [raw.consumer() for _ in range(5)]
    raw.produce(b"three")
    assert [each.records() for each in consumers] == [[b"one", b"two", b"three"]] * 5
    assert reads == 1


def block(offset: int) -> Block:
    return Block([b"%d" % offset * 100], 100, offset + 1)


def test_blocks_are_bounded_and_the_least_recently_used_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "MOST_BYTES", 3 * (100 + blocks._BLOCK_BYTES))
    held = Blocks()
    for offset in range(3):
        held.put(offset, block(offset))
    assert held.from_offset(0, 100).next_offset == 1
    held.put(3, block(3))
    assert held.from_offset(1, 100) == Block([], 0, 1)
    assert held.from_offset(2, 1000) == Block([b"2" * 100 + b"3" * 100], 200, 4)
    assert held.from_offset(0, 1000) == block(0)
