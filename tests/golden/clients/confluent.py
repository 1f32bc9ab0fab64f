"""Each operation of a confluent-kafka (librdkafka) program once."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from confluent_kafka.error import ConsumeError

TOPIC = "rd-plain"


def attempt(what: str, action: Callable[[], Any]) -> None:
    """Calls it and waits for every future in the result; errors are examples, too."""
    try:
        response = action()
        for future in response.values() if isinstance(response, dict) else [response]:
            if hasattr(future, "result"):
                future.result(timeout=8)
    except Exception as error:
        print(f"  confluent {what}: {error}")


def run(address: str, sasl_address: str) -> None:
    base = {"bootstrap.servers": address, "client.id": "golden", "log_level": 0}
    admin = AdminClient(base)
    topics(admin)
    produce(base)
    read(base)
    group(base, admin, "classic")
    group(base, admin, "consumer")
    transactions(base)
    administer(admin)
    security(admin)
    attempt("delete", lambda: admin.delete_topics(["rd-assigned"]))
    attempt("delete unknown", lambda: admin.delete_topics(["nowhere"]))
    authenticate(base, sasl_address)


def topics(admin: AdminClient) -> None:
    def create(what: str, topic: NewTopic, validate: bool = False) -> None:
        attempt(what, lambda: admin.create_topics([topic], validate_only=validate))

    create("create", NewTopic(TOPIC, 2, 1))
    create(
        "configs", NewTopic("rd-configs", replica_assignment=[[1]], config={"retention.ms": "9"})
    )
    create("validate", NewTopic("rd-checked", 1, 1), True)
    create("duplicate", NewTopic(TOPIC, 1, 1))
    create("bad name", NewTopic("bad/name", 1, 1))
    attempt("partitions", lambda: admin.create_partitions([NewPartitions(TOPIC, 3)]))
    attempt("fewer", lambda: admin.create_partitions([NewPartitions(TOPIC, 1)]))
    attempt("metadata", lambda: admin.list_topics(TOPIC, timeout=5))
    attempt("all", lambda: admin.list_topics(timeout=5))
    attempt("unknown", lambda: admin.list_topics("nowhere", timeout=5))
    attempt("cluster", lambda: admin.describe_cluster(include_authorized_operations=True))
    attempt("topics", lambda: admin.describe_topics(TopicCollection([TOPIC, "nowhere"])))


def produce(base: dict[str, Any]) -> None:
    settings: list[dict[str, Any]] = [{"acks": acks} for acks in (0, 1, -1)]
    settings += [{"compression.type": codec} for codec in ("gzip", "snappy", "lz4", "zstd")]
    settings += [{"enable.idempotence": True}, {"api.version.request": False}]
    for more in settings:
        producer = Producer({**base, "linger.ms": 20, **more})
        headers = [("h", b"\x00\xff"), ("h", None)]
        producer.produce(TOPIC, None, b"key", 0, timestamp=1_700_000_000_000, headers=headers)
        producer.produce(TOPIC, b"\x00\x01\xff", None, 0, timestamp=1_700_000_000_001)
        producer.flush(8)
        producer.produce(TOPIC, b"one more", None, 1)
        producer.flush(8)
    attempt("too large", lambda: too_large(base))


def too_large(base: dict[str, Any]) -> None:
    producer = Producer({**base, "message.max.bytes": 2_000_000})
    producer.produce(TOPIC, bytes(1_100_000), None, 0)
    producer.flush(8)


def poll(consumer: Consumer, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            consumer.poll(0.1)
        except (ConsumeError, KafkaException):
            pass


def read(base: dict[str, Any]) -> None:
    for isolation in ("read_committed", "read_uncommitted"):
        consumer = Consumer(
            {
                **base,
                "group.id": "rd-assigned",
                "isolation.level": isolation,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 200,
                "enable.auto.commit": False,
            }
        )
        consumer.assign([TopicPartition(TOPIC, 0, 0), TopicPartition(TOPIC, 1, 0)])
        poll(consumer, 1)
        consumer.assign([TopicPartition(TOPIC, 0, 5000)])
        poll(consumer, 1)
        consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=5)
        consumer.offsets_for_times([TopicPartition(TOPIC, 0, 1_700_000_000_000)], timeout=5)
        consumer.close()


def group(base: dict[str, Any], admin: AdminClient, protocol: str) -> None:
    name = f"rd-{protocol}"
    settings = {**base, "group.id": name, "group.protocol": protocol, "fetch.wait.max.ms": 100}
    settings |= {"auto.offset.reset": "earliest"}
    if protocol == "classic":
        settings |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 300}
    consumer = Consumer({**settings, "group.instance.id": "static-1"})
    consumer.subscribe([TOPIC])
    poll(consumer, 3)
    consumer.commit(asynchronous=False)
    consumer.committed([TopicPartition(TOPIC, 0)], timeout=5)
    attempt("describe", lambda: admin.describe_consumer_groups([name, "nobody"]))
    attempt("delete live", lambda: admin.delete_consumer_groups([name]))
    second = Consumer(settings)
    second.subscribe([TOPIC])
    poll(second, 1.5)
    poll(consumer, 1)
    second.close()
    consumer.close()
    offsets = [ConsumerGroupTopicPartitions(name, [TopicPartition(TOPIC, 0, 1)])]
    attempt("alter offsets", lambda: admin.alter_consumer_group_offsets(offsets))
    requested = [ConsumerGroupTopicPartitions(name, [TopicPartition(TOPIC, 0)])]
    attempt("offsets", lambda: admin.list_consumer_group_offsets(requested))
    attempt("all", lambda: admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)]))
    attempt("groups", admin.list_consumer_groups)
    attempt("delete", lambda: admin.delete_consumer_groups([name, "nobody"]))


def transactions(base: dict[str, Any]) -> None:
    producer = Producer({**base, "transactional.id": "rd-txn"})
    consumer = Consumer({**base, "group.id": "rd-txn-group"})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce(TOPIC, b"committed", None, 2)
    offsets = [TopicPartition(TOPIC, 0, 3)]
    metadata = consumer.consumer_group_metadata()
    producer.send_offsets_to_transaction(offsets, metadata, 10)
    producer.commit_transaction(10)
    producer.begin_transaction()
    producer.produce(TOPIC, b"aborted", None, 2)
    producer.flush(8)
    producer.abort_transaction(10)
    producer.begin_transaction()
    producer.produce(TOPIC, b"open", None, 2)
    producer.flush(8)
    other = Producer({**base, "transactional.id": "rd-txn"})
    other.init_transactions(10)
    producer.produce(TOPIC, b"fenced", None, 2)
    attempt("fenced", lambda: producer.commit_transaction(10))
    consumer.close()


def administer(admin: AdminClient) -> None:
    partition = TopicPartition(TOPIC, 0)
    for spec in (
        OffsetSpec.earliest(),
        OffsetSpec.latest(),
        OffsetSpec.max_timestamp(),
        OffsetSpec.for_timestamp(1_700_000_000_000),
    ):
        requested = {partition: spec}
        committed = IsolationLevel.READ_COMMITTED
        attempt("offsets", partial(admin.list_offsets, requested, isolation_level=committed))
    attempt("delete records", lambda: admin.delete_records([TopicPartition(TOPIC, 0, 1)]))
    attempt("too many", lambda: admin.delete_records([TopicPartition(TOPIC, 0, 9999)]))
    kind = ConfigResource.Type.TOPIC
    attempt("configs", lambda: admin.describe_configs([ConfigResource(kind, TOPIC)]))
    attempt("unknown", lambda: admin.describe_configs([ConfigResource(kind, "nowhere")]))
    for value in ("70000", "x"):
        entry = ConfigEntry("retention.ms", value, incremental_operation=AlterConfigOpType.SET)
        changed = ConfigResource(kind, TOPIC, incremental_configs=[entry])
        attempt("alter", partial(admin.incremental_alter_configs, [changed]))
    whole = ConfigResource(kind, TOPIC, set_config={"retention.ms": "80000"})
    attempt("alter all", lambda: admin.alter_configs([whole]))


def security(admin: AdminClient) -> None:
    operation, permission = AclOperation.READ, AclPermissionType.ALLOW
    literal = ResourcePatternType.LITERAL
    facts = (ResourceType.TOPIC, TOPIC, literal, "User:bob", "*", operation, permission)
    attempt("create acl", lambda: admin.create_acls([AclBinding(*facts)]))
    attempt("acls", lambda: admin.describe_acls(AclBindingFilter(*facts)))
    attempt("delete acl", lambda: admin.delete_acls([AclBindingFilter(*facts)]))
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    carol = UserScramCredentialUpsertion("carol", info, b"secret", b"salt")
    attempt("scram", lambda: admin.alter_user_scram_credentials([carol]))
    attempt("users", lambda: admin.describe_user_scram_credentials(["carol", "nobody"]))


def authenticate(base: dict[str, Any], sasl_address: str) -> None:
    for mechanism, user, password in (
        ("PLAIN", "alice", "secret"),
        ("SCRAM-SHA-256", "carol", "secret"),
        ("PLAIN", "alice", "wrong"),
    ):
        admin = AdminClient(
            {
                **base,
                "bootstrap.servers": sasl_address,
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": mechanism,
                "sasl.username": user,
                "sasl.password": password,
            }
        )
        attempt("sasl", partial(admin.list_topics, timeout=3))
