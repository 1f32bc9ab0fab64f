"""aiokafka: producer, a consumer without a group, and its admin client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.errors import (
    KafkaError,
    MessageSizeTooLargeError,
    OffsetOutOfRangeError,
    TopicAlreadyExistsError,
)

from tests.e2e.conftest import CreateTopic, unused_topic_name
from tests.e2e.librdkafka import read_values

PATIENCE_S = 30.0
LONG_AGO_MS = 1_600_000_000_000


@asynccontextmanager
async def started_producer(bootstrap: str, **settings: Any) -> AsyncIterator[AIOKafkaProducer]:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, **settings)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


@asynccontextmanager
async def assigned_consumer(
    bootstrap: str, topic: str, offset: int | None = 0, partitions: int = 1, **settings: Any
) -> AsyncIterator[AIOKafkaConsumer]:
    defaults = {"group_id": None, "auto_offset_reset": "none", "fetch_max_wait_ms": 100}
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, **(defaults | settings))
    await consumer.start()
    try:
        places = [TopicPartition(topic, partition) for partition in range(partitions)]
        consumer.assign(places)
        for place in places:
            if offset is not None:
                consumer.seek(place, offset)
        yield consumer
    finally:
        await consumer.stop()


@asynccontextmanager
async def started_admin(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def next_record(consumer: AIOKafkaConsumer) -> ConsumerRecord[Any, Any]:
    return await asyncio.wait_for(consumer.getone(), PATIENCE_S)


async def read(bootstrap: str, topic: str, count: int) -> list[ConsumerRecord[Any, Any]]:
    async with assigned_consumer(bootstrap, topic) as consumer:
        records = [await next_record(consumer) for _ in range(count)]
    assert [record.offset for record in records] == list(range(count))
    return records


async def send_all(producer: AIOKafkaProducer, topic: str, *values: bytes | None) -> list[int]:
    waiting = [await producer.send(topic, value, partition=0) for value in values]
    return [report.offset for report in await asyncio.gather(*waiting)]


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_a_message_arrives_with_each_acks(bootstrap: str, topic: str, acks: int | str) -> None:
    async def story() -> None:
        async with started_producer(bootstrap, acks=acks) as producer:
            await producer.send_and_wait(topic, b"hello")
        (record,) = await read(bootstrap, topic, 1)
        assert record.value == b"hello"

    asyncio.run(story())


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_compressed_batch_is_returned_unchanged(bootstrap: str, topic: str, codec: str) -> None:
    values = [b"%d " % n * 50 for n in range(200)]

    async def story() -> None:
        async with started_producer(bootstrap, compression_type=codec, linger_ms=20) as producer:
            assert await send_all(producer, topic, *values) == list(range(200))
        assert [record.value for record in await read(bootstrap, topic, 200)] == values

    asyncio.run(story())
    assert read_values(bootstrap, topic, 200) == values


def test_keys_values_and_headers_can_be_null_or_binary(bootstrap: str, topic: str) -> None:
    every_byte = bytes(range(256))
    headers = [("binary", every_byte), ("twice", b"a"), ("twice", b"b")]

    async def story() -> None:
        async with started_producer(bootstrap) as producer:
            await producer.send_and_wait(topic, None, key=b"tombstone")
            await producer.send_and_wait(topic, b"", key=None)
            await producer.send_and_wait(topic, every_byte, key=every_byte[::-1], headers=headers)
        tombstone, hollow, full = await read(bootstrap, topic, 3)
        assert (tombstone.key, tombstone.value) == (b"tombstone", None)
        assert (hollow.key, hollow.value) == (None, b"")
        assert (full.key, full.value) == (every_byte[::-1], every_byte)
        assert list(full.headers) == headers

    asyncio.run(story())


def test_an_idempotent_producer_keeps_order_over_many_small_batches(
    bootstrap: str, topic: str
) -> None:
    values = [b"%d" % n for n in range(2_000)]

    async def story() -> None:
        settings = {"enable_idempotence": True, "max_batch_size": 200}
        async with started_producer(bootstrap, **settings) as producer:
            assert await send_all(producer, topic, *values) == list(range(2_000))
        assert [record.value for record in await read(bootstrap, topic, 2_000)] == values

    asyncio.run(story())


def test_a_message_above_the_limit_is_refused(bootstrap: str, topic: str) -> None:
    big, bigger = os.urandom(1_000_000), os.urandom(1_100_000)

    async def story() -> None:
        async with started_producer(bootstrap) as modest:
            await modest.send_and_wait(topic, big)
            with pytest.raises(MessageSizeTooLargeError):
                await modest.send_and_wait(topic, bigger)
        async with started_producer(bootstrap, max_request_size=5_000_000) as bold:
            with pytest.raises(MessageSizeTooLargeError):
                await bold.send_and_wait(topic, bigger)
        (record,) = await read(bootstrap, topic, 1)
        assert record.value == big

    asyncio.run(story())


def test_a_waiting_consumer_gets_new_messages(bootstrap: str, topic: str) -> None:
    async def story() -> None:
        async with (
            started_producer(bootstrap) as producer,
            assigned_consumer(bootstrap, topic, fetch_max_wait_ms=60_000) as consumer,
        ):
            for number in range(3):
                waiting = asyncio.ensure_future(next_record(consumer))
                await producer.send_and_wait(topic, b"%d" % number)
                assert (await waiting).value == b"%d" % number

    asyncio.run(story())


def test_an_offset_out_of_range_is_an_error_or_reset(bootstrap: str, topic: str) -> None:
    async def story() -> None:
        async with started_producer(bootstrap) as producer:
            await send_all(producer, topic, b"a", b"b")
        async with assigned_consumer(bootstrap, topic, 100) as consumer:
            with pytest.raises(OffsetOutOfRangeError):
                await next_record(consumer)
        settings = {"auto_offset_reset": "earliest"}
        async with assigned_consumer(bootstrap, topic, 100, **settings) as consumer:
            assert (await next_record(consumer)).value == b"a"

    asyncio.run(story())


def test_offsets_are_found_at_both_ends_and_by_time(bootstrap: str, topic: str) -> None:
    async def story() -> None:
        async with started_producer(bootstrap) as producer:
            for number in range(4):
                stamp = LONG_AGO_MS + 1000 * number
                await producer.send_and_wait(topic, b"x", timestamp_ms=stamp)
        place = TopicPartition(topic, 0)
        async with assigned_consumer(bootstrap, topic) as consumer:
            assert await consumer.beginning_offsets([place]) == {place: 0}
            assert await consumer.end_offsets([place]) == {place: 4}
            found = await consumer.offsets_for_times({place: LONG_AGO_MS + 1001})
            assert (found[place].offset, found[place].timestamp) == (2, LONG_AGO_MS + 2000)
            assert await consumer.offsets_for_times({place: LONG_AGO_MS * 2}) == {place: None}
            assert (await next_record(consumer)).timestamp == LONG_AGO_MS

    asyncio.run(story())


def test_one_consumer_reads_many_partitions(bootstrap: str, create_topic: CreateTopic) -> None:
    wide = create_topic(6)

    async def story() -> None:
        async with started_producer(bootstrap) as producer:
            sent = [await producer.send(wide, b"%d" % p, partition=p) for p in range(6)]
            await asyncio.gather(*sent)
        async with assigned_consumer(bootstrap, wide, partitions=6) as consumer:
            records = [await next_record(consumer) for _ in range(6)]
        assert {(r.partition, r.value) for r in records} == {(p, b"%d" % p) for p in range(6)}

    asyncio.run(story())


def test_an_unknown_topic_is_created_on_first_use(bootstrap: str) -> None:
    name = unused_topic_name()

    async def story() -> None:
        async with started_producer(bootstrap) as producer:
            await producer.send_and_wait(name, b"first")
        (record,) = await read(bootstrap, name, 1)
        assert record.value == b"first"

    asyncio.run(story())


def test_an_unknown_partition_is_refused(bootstrap: str, topic: str) -> None:
    async def story() -> None:
        async with started_producer(bootstrap, request_timeout_ms=1_000) as producer:
            with pytest.raises((KafkaError, AssertionError)):
                await producer.send_and_wait(topic, b"lost", partition=9)

    asyncio.run(story())


def test_topics_are_created_described_extended_and_deleted(bootstrap: str) -> None:
    name = unused_topic_name()

    async def story() -> None:
        async with started_admin(bootstrap) as admin:
            await admin.create_topics([NewTopic(name, 2, 1)])
            await admin.create_topics([NewTopic(unused_topic_name(), 1, 1)], validate_only=True)
            again = await admin.create_topics([NewTopic(name, 2, 1)])
            assert again.topic_errors[0][1] == TopicAlreadyExistsError.errno
            await admin.create_partitions({name: NewPartitions(3)})
            while len((await admin.describe_topics([name]))[0]["partitions"]) < 3:
                pass  # it asks any broker, and each learns of the change for itself
            while name not in await admin.list_topics():
                pass
            cluster = await admin.describe_cluster()
            assert len(cluster["brokers"]) == len(bootstrap.split(","))
            await admin.delete_topics([name])
            while name in await admin.list_topics():
                pass

    asyncio.run(asyncio.wait_for(story(), PATIENCE_S))


def test_records_are_deleted_up_to_an_offset(bootstrap: str, topic: str) -> None:
    async def story() -> None:
        place = TopicPartition(topic, 0)
        async with started_admin(bootstrap) as admin, started_producer(bootstrap) as sender:
            for number in range(3):
                await sender.send_and_wait(topic, b"%d" % number, partition=0)
            for offset, low in ((2, 2), (-1, 3)):
                found = await admin.delete_records({place: RecordsToDelete(offset)})
                assert found == {place: low}
            with pytest.raises(OffsetOutOfRangeError):
                await admin.delete_records({place: RecordsToDelete(4)})

    asyncio.run(story())
