"""Each operation of an aiokafka program once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.structs import TopicPartition

TOPIC = "aio-plain"


async def attempt(what: str, action: Callable[[], Awaitable[Any]]) -> None:
    try:
        await asyncio.wait_for(action(), 10)
    except Exception as error:
        print(f"  aiokafka {what}: {error!r}")


async def run(address: str, sasl_address: str) -> None:
    base = {"bootstrap_servers": address, "client_id": "golden"}
    admin = AIOKafkaAdminClient(**base)
    await admin.start()
    await topics(admin)
    for more in (
        *({"acks": acks} for acks in (0, 1, "all")),
        *({"compression_type": codec} for codec in ("gzip", "snappy", "lz4", "zstd")),
        {"enable_idempotence": True},
    ):
        await attempt(str(more), lambda more=more: produce({**base, **more}))
    await attempt("read", lambda: read(base))
    await attempt("group", lambda: group(base, admin))
    await attempt("transactions", lambda: transactions(base))
    await administer(admin)
    await attempt("delete", lambda: admin.delete_topics(["aio-configs", "nowhere"]))
    await admin.close()
    await attempt("sasl", lambda: authenticate(sasl_address))


async def topics(admin: AIOKafkaAdminClient) -> None:
    async def create(what: str, topic: NewTopic, **more: Any) -> None:
        await attempt(what, lambda: admin.create_topics([topic], **more))

    await create("create", NewTopic(TOPIC, 2, 1))
    configs = {"retention.ms": "60000"}
    assigned = {0: [1]}
    await create("configs", NewTopic("aio-configs", -1, -1, assigned, topic_configs=configs))
    await create("validate", NewTopic("aio-checked", 1, 1), validate_only=True)
    await create("duplicate", NewTopic(TOPIC, 1, 1))
    await create("bad name", NewTopic("bad/name", 1, 1))
    await attempt("partitions", lambda: admin.create_partitions({TOPIC: NewPartitions(3)}))
    await attempt("fewer", lambda: admin.create_partitions({TOPIC: NewPartitions(1)}))
    await attempt("topics", admin.list_topics)
    await attempt("describe", lambda: admin.describe_topics([TOPIC, "nowhere"]))
    await attempt("cluster", admin.describe_cluster)


async def produce(settings: dict[str, Any]) -> None:
    async with AIOKafkaProducer(**settings) as producer:
        stamp = 1_700_000_000_000
        headers = [("h", b"\x00\xff")]
        await producer.send_and_wait(TOPIC, None, b"key", 0, stamp, headers)
        await producer.send_and_wait(TOPIC, b"\x00\x01\xff", None, 0, stamp + 1)


async def read(base: dict[str, Any]) -> None:
    for isolation in ("read_committed", "read_uncommitted"):
        settings = {"isolation_level": isolation, "fetch_max_wait_ms": 200}
        partition = TopicPartition(TOPIC, 0)
        async with AIOKafkaConsumer(**base, **settings, auto_offset_reset="earliest") as consumer:
            consumer.assign([partition])
            await consumer.seek_to_beginning(partition)
            await consumer.getmany(timeout_ms=800)
            consumer.seek(partition, 5000)
            await consumer.getmany(timeout_ms=800)
            await consumer.beginning_offsets([partition])
            await consumer.end_offsets([partition])
            await consumer.offsets_for_times({partition: 1_700_000_000_000})


async def group(base: dict[str, Any], admin: AIOKafkaAdminClient) -> None:
    settings = {
        "group_id": "aio-group",
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
    }
    timings = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 300}
    async with AIOKafkaConsumer(TOPIC, **base, **settings, **timings) as consumer:
        await consumer.getmany(timeout_ms=2000)
        await consumer.commit()
        await consumer.committed(TopicPartition(TOPIC, 0))
        await asyncio.sleep(1)
        names = ["aio-group", "nobody"]
        await attempt("describe", lambda: admin.describe_consumer_groups(names))
        await attempt("groups", admin.list_consumer_groups)
        await attempt("offsets", lambda: admin.list_consumer_group_offsets("aio-group"))


async def transactions(base: dict[str, Any]) -> None:
    async with AIOKafkaProducer(**base, transactional_id="aio-txn") as producer:
        async with producer.transaction():
            await producer.send_and_wait(TOPIC, b"committed", None, 2)
            offsets = {TopicPartition(TOPIC, 0): 3}
            await producer.send_offsets_to_transaction(offsets, "aio-group")
        await producer.begin_transaction()
        await producer.send_and_wait(TOPIC, b"aborted", None, 2)
        await producer.abort_transaction()


async def administer(admin: AIOKafkaAdminClient) -> None:
    partition = TopicPartition(TOPIC, 0)
    delete = {partition: RecordsToDelete(before_offset=1)}
    await attempt("delete records", lambda: admin.delete_records(delete))
    topic = ConfigResource(ConfigResourceType.TOPIC, TOPIC)
    await attempt("configs", lambda: admin.describe_configs([topic]))
    changed = ConfigResource(ConfigResourceType.TOPIC, TOPIC, {"retention.ms": "70000"})
    await attempt("alter", lambda: admin.alter_configs([changed]))


async def authenticate(sasl_address: str) -> None:
    for mechanism, user in (("PLAIN", "alice"), ("SCRAM-SHA-256", "carol")):
        admin = AIOKafkaAdminClient(
            bootstrap_servers=sasl_address,
            client_id="golden",
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism=mechanism,
            sasl_plain_username=user,
            sasl_plain_password="secret",
        )
        await attempt(mechanism, admin.start)
        await admin.close()
