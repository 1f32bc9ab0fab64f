"""Fills an Apache Kafka with one of everything that `ottla import kafka` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from interfaces.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    OpData,
)
from interfaces.kafka.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from tests.e2e.broker_process import Address, wait_until
from tests.e2e.kafka_folder.reading import committed_offsets, everything
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.transactions import Producer as TransactionalProducer

SETTINGS = """
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.cleaner.backoff.ms=200
log.retention.check.interval.ms=300
log.initial.task.delay.ms=100
metadata.log.max.record.bytes.between.snapshots=2500
"""

#: Of the first records: segments roll by `segment.ms`.
NOW_MS = 1_700_000_000_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TOPICS: dict[str, tuple[int, dict[str, str]]] = {
    "codecs": (len(CODECS), {"retention.ms": "-1", "max.message.bytes": "2000000"}),
    "segments": (2, {"segment.ms": "1000", "retention.ms": "-1"}),
    "compacted": (
        1,
        {
            "cleanup.policy": "compact",
            "segment.ms": "1000",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "86400000",
        },
    ),
    "trimmed": (1, {"segment.ms": "1000", "retention.ms": "-1"}),
    "stamped": (1, {"message.timestamp.type": "LogAppendTime", "retention.ms": "-1"}),
    "transactions": (2, {"segment.ms": "1000", "retention.ms": "-1"}),
    "empty": (3, {}),
}
#: Of configs.
TOPIC, BROKER, GROUP, SET = 2, 4, 32, 0
GROUPS = ("classic-group", "consumer-group", "simple-group", "copiers")
#: A topic with transactions of version 2.
VERSION_2 = "version-2-v0-a"
ALL_TOPICS = TOPICS | {VERSION_2: (1, {"retention.ms": "-1"})}
PASSWORD = "PaSs-of-bea-4491"
SUPER = "ann"
USER = "bea"


def fill(address: Address, data: Path, timeout_ms: int = 900_000) -> list[Producer]:
    """Returns a producer with an open transaction, which must live until Kafka has stopped."""
    admin = AdminClient({"bootstrap.servers": address.bootstrap})
    _create(admin)
    _codecs(address)
    _segments(address)
    _compacted(address, data)
    _trimmed(address, admin, data)
    _stamped(address)
    _groups(address)
    opened = _transactions(address, timeout_ms)
    _transactions_of_version_2(address, timeout_ms)
    _security(admin)
    _quotas(address)
    _configs(address)
    return opened


def expected(bootstrap: str) -> dict[str, Any]:
    """What clients read; compare it with that of a broker which has imported the folder."""
    topics = {name: count for name, (count, _) in ALL_TOPICS.items()}
    return {
        "topics": everything(bootstrap, topics),
        "groups": {group: committed_offsets(bootstrap, group, topics) for group in GROUPS},
    }


def producer(address: Address, **more: object) -> Producer:
    settings = {name.replace("_", "."): value for name, value in more.items()}
    return Producer({"bootstrap.servers": address.bootstrap, "linger.ms": 5, **settings})


def _create(admin: AdminClient) -> None:
    new = [NewTopic(name, count, 1, config=config) for name, (count, config) in TOPICS.items()]
    new.append(NewTopic("deleted", 2, 1))
    for created in admin.create_topics(new).values():
        created.result()
    for deleted in admin.delete_topics(["deleted"]).values():
        deleted.result()


def _send(sender: Producer, topic: str, partition: int, count: int, at: int = 0) -> None:
    for number in range(at, at + count):
        sender.produce(
            topic,
            key=f"key-{number}".encode() if number % 3 else None,
            value=f"value-{number}-".encode() * 5 if number % 7 else None,
            partition=partition,
            timestamp=NOW_MS + number * 500,
            headers=[("h", b"1"), ("n", None)] if number % 2 else None,
            on_delivery=_delivered,
        )
    assert sender.flush(30) == 0


def _delivered(error: KafkaError | None, message: Message) -> None:
    assert error is None, f"{message.topic()}: {error}"


def _codecs(address: Address) -> None:
    for number, codec in enumerate(CODECS):
        sender = producer(address, compression_type=codec, enable_idempotence=bool(number % 2))
        _send(sender, "codecs", number, 20)
        _send(sender, "codecs", number, 20, 20)


def _segments(address: Address) -> None:
    sender = producer(address, enable_idempotence=True, batch_num_messages=4)
    for start in range(0, 40, 8):
        _send(sender, "segments", 0, 8, start)
    _send(producer(address), "segments", 1, 3)


def _compacted(address: Address, data: Path) -> None:
    sender = producer(address, batch_num_messages=4, enable_idempotence=True)
    for number in range(40):
        value = None if number % 10 == 9 else b"v%d" % number
        at = NOW_MS + number * 400
        sender.produce("compacted", key=b"k%d" % (number % 6), value=value, timestamp=at)
        if number % 4 == 3:
            assert sender.flush(30) == 0
    checkpoint = data / "cleaner-offset-checkpoint"
    wait_until(lambda: checkpoint.exists() and "compacted 0 " in checkpoint.read_text())


def _trimmed(address: Address, admin: AdminClient, data: Path) -> None:
    """The batches of the first producer are gone, its state is in snapshots only."""
    _send(producer(address, enable_idempotence=True), "trimmed", 0, 6)
    _send(producer(address, enable_idempotence=True), "trimmed", 0, 12, 10)
    removed = admin.delete_records([TopicPartition("trimmed", 0, 10)])
    next(iter(removed.values())).result()
    first = data / "trimmed-0" / f"{0:020}.log"
    wait_until(lambda: not first.exists())


def _stamped(address: Address) -> None:
    sender = producer(address, compression_type="lz4")
    for number in range(10):
        sender.produce("stamped", key=b"k", value=b"v%d" % number)
    assert sender.flush(30) == 0


def _groups(address: Address) -> None:
    _consume(address, "classic-group", "classic", "segments", 7)
    _consume(address, "consumer-group", "consumer", "codecs", 11)
    simple = Consumer({"bootstrap.servers": address.bootstrap, "group.id": "simple-group"})
    offsets = [TopicPartition("segments", 1, 2, metadata="Grüße")]
    simple.commit(offsets=offsets, asynchronous=False)
    simple.close()


def _consume(address: Address, group: str, protocol: str, topic: str, count: int) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": address.bootstrap,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    found: list[Message] = []
    while len(found) < count:
        found += consumer.consume(count - len(found), 30)
    consumer.commit(asynchronous=False)
    consumer.close()


def _transactions(address: Address, timeout_ms: int) -> list[Producer]:
    opened = []
    for name, ends in (("commits", True), ("aborts", False), ("stays-open", None)):
        sender = producer(address, transactional_id=name, transaction_timeout_ms=timeout_ms)
        sender.init_transactions(30)
        for part in range(2):
            sender.begin_transaction()
            _send(sender, "transactions", part, 3, part * 3)
            _commit_offset(address, sender, part + 1 if ends else 33)
            if part == 0 and ends is None:
                sender.abort_transaction(30)
            elif ends:
                sender.commit_transaction(30)
            elif ends is False:
                sender.abort_transaction(30)
        _send(producer(address), "transactions", 0, 2, 20)
        opened.append(sender)
    return opened


def _transactions_of_version_2(address: Address, timeout_ms: int) -> None:
    """The epoch rises with each end (KIP-890), as with Java clients since 4.0."""
    run = ScenarioRun(address, "version", "2", 0)
    topic = run.topic("a", retention_ms="-1")
    assert topic.name == VERSION_2
    for short, ends in (("ends", (True, False, True)), ("opens", (True, None))):
        sender = TransactionalProducer(run, short, timeout_ms)
        for number, committed in enumerate(ends):
            sender.send(topic, f"{short}-{number}", "more")
            if committed is not None:
                sender.end(committed, version=5)
    run.close()


def _commit_offset(address: Address, sender: Producer, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": address.bootstrap, "group.id": "copiers"})
    metadata = consumer.consumer_group_metadata()
    sender.send_offsets_to_transaction([TopicPartition("segments", 0, offset)], metadata, 30)
    consumer.close()


def _security(admin: AdminClient) -> None:
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        info = ScramCredentialInfo(mechanism, 4096)
        secret, salt = PASSWORD.encode(), b"salt" * 4
        users: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(name, info, secret, salt) for name in (SUPER, USER, "gone")
        ]
        gone: list[UserScramCredentialAlteration] = [UserScramCredentialDeletion("gone", mechanism)]
        for alterations in (users, gone):
            for altered in admin.alter_user_scram_credentials(alterations).values():
                altered.result()
    allow, deny = AclPermissionType.ALLOW, AclPermissionType.DENY
    literal, prefixed = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED
    acls = [
        (ResourceType.TOPIC, "seg", prefixed, f"User:{USER}", "*", AclOperation.READ, allow),
        (ResourceType.GROUP, "*", literal, f"User:{USER}", "*", AclOperation.READ, allow),
        (ResourceType.TOPIC, "codecs", literal, "User:*", "10.0.0.1", AclOperation.ALL, deny),
        (ResourceType.TOPIC, "gone", literal, "User:*", "*", AclOperation.WRITE, allow),
        (
            *(ResourceType.BROKER, "kafka-cluster", literal, f"User:{USER}", "*"),
            *(AclOperation.DESCRIBE, allow),
        ),
    ]
    bindings = [AclBinding(*one) for one in acls]
    for one in admin.create_acls(bindings).values():
        one.result()


def _quotas(address: Address) -> None:
    run = ScenarioRun(address, "fill", "quotas", 0)
    entries = [
        EntryData(
            entity=[EntityData("user", USER)], ops=[OpData("producer_byte_rate", 50_000_000.0)]
        ),
        EntryData(
            entity=[EntityData("user", None), EntityData("client-id", "app")],
            ops=[OpData("consumer_byte_rate", 60_000_000.0), OpData("request_percentage", 50.0)],
        ),
        EntryData(
            entity=[EntityData("ip", "10.1.2.3")], ops=[OpData("connection_creation_rate", 9.0)]
        ),
    ]
    changed = run.call(AlterClientQuotasRequest(entries=entries), AlterClientQuotasResponse, 1)
    assert [one.error_code for one in changed.entries] == [0, 0, 0], changed
    removed = [EntryData(entity=entries[1].entity, ops=[OpData("request_percentage", 0.0, True)])]
    run.call(AlterClientQuotasRequest(entries=removed), AlterClientQuotasResponse, 1)
    run.close()


def _configs(address: Address) -> None:
    run = ScenarioRun(address, "fill", "configs", 0)
    configs = (
        (BROKER, "", "log.retention.ms", "604800001"),
        (BROKER, "1", "max.connections", "500"),
        (TOPIC, "empty", "retention.bytes", "12345"),
        (GROUP, "consumer-group", "consumer.session.timeout.ms", "50000"),
    )
    resources = [
        AlterConfigsResource(kind, name, [AlterableConfig(config, SET, value)])
        for kind, name, config, value in configs
    ]
    request = IncrementalAlterConfigsRequest(resources=resources)
    altered = run.call(request, IncrementalAlterConfigsResponse, 1)
    assert {one.error_code for one in altered.responses} == {0}, altered
    run.close()
