"""`ottla export kafka`: what it writes, and a real Kafka on it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import Address, BrokerProcess, command, environment
from tests.e2e.kafka_folder.formatted import formatted
from tests.oracle.kafka import (
    JAVA,
    PROPERTIES,
    KafkaNotFound,
    find_jars,
    format_folder,
    started_kafka,
)

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PARTITIONS = 3
GROUP, TRANSACTIONAL_ID, USER = "readers", "a-transaction", "ann"
CLI = Ottla("127.0.0.1:1")
PATIENCE_S = 20.0
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
Rows = list[tuple[Any, ...]]


def client(address: Address, **more: object) -> dict[str, Any]:
    return {"bootstrap.servers": address.bootstrap, "log_level": 0, **more}


def done(futures: dict[Any, Any]) -> None:
    for future in futures.values():
        future.result(PATIENCE_S)


def filled(address: Address, records: int) -> None:
    admin = AdminClient(client(address))
    configs = {"segment.bytes": "1048576", "max.message.bytes": "2000000"}
    done(
        admin.create_topics(
            [NewTopic("orders", PARTITIONS, 1, config=configs), NewTopic("empty", 2, 1)]
        )
    )
    for codec in CODECS:
        producer = Producer(
            client(address, **{"enable.idempotence": True, "compression.type": codec})
        )
        for number in range(records):
            value = (b"%d" % number) * 200
            producer.produce(
                "orders",
                value,
                b"%d" % number,
                partition=number % PARTITIONS,
                headers={"codec": codec.encode()},
            )
        assert producer.flush(PATIENCE_S) == 0
    transactional = Producer(client(address, **{"transactional.id": TRANSACTIONAL_ID}))
    transactional.init_transactions(PATIENCE_S)
    for commits in (False, True):
        transactional.begin_transaction()
        transactional.produce("orders", b"committed" if commits else b"aborted", partition=0)
        transactional.flush(PATIENCE_S)
        if commits:
            transactional.commit_transaction(PATIENCE_S)
        else:
            transactional.abort_transaction(PATIENCE_S)
    consumer = Consumer(client(address, **{"group.id": GROUP, "enable.auto.commit": False}))
    offsets = [TopicPartition("orders", index, 10 + index) for index in range(PARTITIONS)]
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()
    done(admin.delete_records([TopicPartition("orders", 1, 4)]))
    credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    setting = ConfigEntry("message.max.bytes", "2000000")
    setting.incremental_operation = AlterConfigOpType.SET
    own = ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=[setting])
    done(admin.incremental_alter_configs([own]))
    upsertion = UserScramCredentialUpsertion(USER, credential, b"a password")
    done(admin.alter_user_scram_credentials([upsertion]))


def all_records(address: Address, isolation: str) -> Rows:
    consumer = Consumer(
        client(
            address,
            **{
                "group.id": "unused",
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
            },
        )
    )
    consumer.assign([TopicPartition("orders", index, 0) for index in range(PARTITIONS)])
    rows: Rows = []
    ends = 0
    while ends < PARTITIONS:
        message = consumer.poll(PATIENCE_S)
        assert message is not None
        if message.error():
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            ends += 1
            continue
        rows.append(
            (
                message.partition(),
                message.offset(),
                message.key(),
                message.value(),
                message.timestamp(),
                message.headers(),
            )
        )
    consumer.close()
    return sorted(rows, key=lambda row: row[:2])


def committed(address: Address) -> list[int]:
    consumer = Consumer(client(address, **{"group.id": GROUP}))
    places = [TopicPartition("orders", index) for index in range(PARTITIONS)]
    found = [place.offset for place in consumer.committed(places, PATIENCE_S)]
    consumer.close()
    return found


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data folder, and its cluster id."""
    broker = BrokerProcess(tmp_path_factory.mktemp("ottla"), arguments=["--flush", "os"])
    with broker:
        filled(broker.address, 9)
        cluster_id = AdminClient(client(broker.address)).list_topics(timeout=10).cluster_id
    return broker.folder / "data", cluster_id


def test_a_formatted_folder_gets_all_partitions_and_the_metadata_log_last(
    stopped: tuple[Path, str], tmp_path: Path
) -> None:
    data, cluster_id = stopped
    target = formatted(tmp_path / "kafka", cluster_id)
    CLI.run("export", "kafka", str(target), "--data", str(data))
    folders = {path.name for path in target.iterdir() if path.is_dir()}
    own = {f"orders-{index}" for index in range(PARTITIONS)} | {"empty-0", "empty-1"}
    internal = {name for name in folders if name.startswith("__")}
    assert folders - internal == own
    assert len(internal) == 50 + 50 + 1
    log = (target / "__cluster_metadata-0/00000000000000000000.log").read_bytes()
    for word in (b"metadata.version", b"orders", b"max.message.bytes", USER.encode()):
        assert word in log
    assert (target / "log-start-offset-checkpoint").read_text() == "0\n1\norders 1 4\n"
    again = CLI.run("export", "kafka", str(target), "--data", str(data), code=1)
    assert "is in use" in again.errors and "kafka-storage format" in again.errors


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("another cluster", "is formatted for cluster other"),
        ("no folder", "is no formatted log folder of Kafka"),
        ("no properties", "is no formatted log folder of Kafka"),
        ("a second folder of log.dirs", "is no formatted log folder of Kafka"),
        ("another node", "format it with node.id=1"),
        ("an older format", "lacks node.id or directory.id"),
        ("a cut bootstrap file", "is no formatted log folder of Kafka"),
    ],
)
def test_other_folders_are_refused_unchanged(
    stopped: tuple[Path, str], tmp_path: Path, change: str, words: str
) -> None:
    data, cluster_id = stopped
    target = formatted(tmp_path / "kafka", "other" if change == "another cluster" else cluster_id)
    bootstrap, properties = target / "bootstrap.checkpoint", target / "meta.properties"
    if change == "no folder":
        target = tmp_path / "nothing"
    elif change == "no properties":
        properties.unlink()
    elif change == "a second folder of log.dirs":
        shutil.rmtree(target / "__cluster_metadata-0")
    elif change == "another node":
        properties.write_text(properties.read_text().replace("node.id=1", "node.id=5"))
    elif change == "an older format":
        text = properties.read_text().replace("directory.id", "other.id")
        properties.write_text(text)
    elif change == "a cut bootstrap file":
        bootstrap.write_bytes(bootstrap.read_bytes()[:-1])
    before = sorted(tmp_path.rglob("*"))
    refused = CLI.run("export", "kafka", str(target), "--data", str(data), code=1)
    assert words in refused.errors
    assert sorted(tmp_path.rglob("*")) == before


def test_a_full_disk_ends_it_in_one_line(stopped: tuple[Path, str], tmp_path: Path) -> None:
    """A limit of the size of files stands for the disk."""
    data, cluster_id = stopped
    target = formatted(tmp_path / "kafka", cluster_id)
    words = command("export", "kafka", str(target), "--data", str(data))
    ended = subprocess.run(
        ["bash", "-c", 'ulimit -f 1; exec "$@"', "bash", *words],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    [line] = ended.stderr.splitlines()
    assert "File too large" in line and f"delete {target}, format it again" in line


def test_a_store_with_an_open_transaction_is_refused(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path / "ottla", arguments=["--flush", "os"])
    with broker:
        producer = Producer(client(broker.address, **{"transactional.id": "open-one"}))
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        producer.produce("orders", b"undecided")
        producer.flush(PATIENCE_S)
        cluster_id = AdminClient(client(broker.address)).list_topics(timeout=10).cluster_id
        broker.kill()
    target = formatted(tmp_path / "kafka", cluster_id)
    data = str(broker.folder / "data")
    refused = CLI.run("export", "kafka", str(target), "--data", data, code=1)
    assert "open transactions: 1, as that of open-one" in refused.errors


@pytest.mark.long
def test_kafka_serves_an_exported_folder(tmp_path: Path) -> None:
    try:
        java = [*JAVA, "-cp", f"{find_jars()}/*"]
    except KafkaNotFound as missing:
        pytest.skip(str(missing))
    secured = ["--set", f"authorizer.class.name={AUTHORIZER}"]
    secured += ["--set", "super.users=User:ANONYMOUS"]
    broker = BrokerProcess(tmp_path / "ottla", arguments=["--flush", "os", *secured])
    levels = "read_committed", "read_uncommitted"
    with broker:
        filled(broker.address, 1000)
        admin = AdminClient(client(broker.address))
        acl = AclBinding(
            ResourceType.TOPIC,
            "orders",
            ResourcePatternType.LITERAL,
            f"User:{USER}",
            "*",
            AclOperation.READ,
            AclPermissionType.ALLOW,
        )
        done(admin.create_acls([acl]))
        before = {level: all_records(broker.address, level) for level in levels}
        offsets = committed(broker.address)
        metadata = admin.list_topics(timeout=10)
    folder = tmp_path / "kafka"
    folder.mkdir()
    own = f"authorizer.class.name={AUTHORIZER}\nsuper.users=User:ANONYMOUS\n"
    port = format_folder(java, folder, PROPERTIES + own, cluster_id=metadata.cluster_id)
    data = folder / "data"
    CLI.run("export", "kafka", str(data), "--data", str(broker.folder / "data"))
    check_with_kafkas_tool(java, data)
    with started_kafka(java, folder, port) as address:
        assert {level: all_records(address, level) for level in levels} == before
        assert committed(address) == offsets
        admin = AdminClient(client(address))
        assert set(admin.list_topics(timeout=10).topics) >= {"orders", "empty"}
        assert admin.list_topics(timeout=10).cluster_id == metadata.cluster_id
        [described] = admin.describe_user_scram_credentials([USER]).values()
        assert [one.iterations for one in described.result().scram_credential_infos] == [4096]
        every = AclBindingFilter(
            ResourceType.ANY,
            None,
            ResourcePatternType.ANY,
            None,
            None,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        assert admin.describe_acls(every).result() == [acl]
        transactional = Producer(client(address, **{"transactional.id": TRANSACTIONAL_ID}))
        transactional.init_transactions(PATIENCE_S)
        transactional.begin_transaction()
        transactional.produce("orders", b"one more", partition=0)
        transactional.commit_transaction(PATIENCE_S)
        after = all_records(address, "read_committed")
        assert len(after) == len(before["read_committed"]) + 1


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_consumer_that_waits_meanwhile_goes_on(protocol: str, tmp_path: Path) -> None:
    try:
        java = [*JAVA, "-cp", f"{find_jars()}/*"]
    except KafkaNotFound as missing:
        pytest.skip(str(missing))
    broker = BrokerProcess(tmp_path / "ottla", arguments=["--flush", "os"])
    folder = tmp_path / "kafka"
    folder.mkdir()
    with broker:
        admin = AdminClient(client(broker.address))
        done(admin.create_topics([NewTopic("news", 2, 1)]))
        cluster_id = admin.list_topics(timeout=10).cluster_id
        port = format_folder(java, folder, PROPERTIES, cluster_id=cluster_id)
        send(broker.address, b"before")
        both = f"{broker.address.bootstrap},127.0.0.1:{port}"
        settings = {"bootstrap.servers": both, "group.id": GROUP, "group.protocol": protocol}
        consumer = Consumer({**settings, "auto.offset.reset": "earliest", "log_level": 0})
        consumer.subscribe(["news"])
        assert next_value(consumer) == b"before"
        consumer.commit(asynchronous=False)
    data = folder / "data"
    CLI.run("export", "kafka", str(data), "--data", str(broker.folder / "data"))
    with started_kafka(java, folder, port) as address:
        send(address, b"after")
        assert next_value(consumer) == b"after"
        consumer.close()


def send(address: Address, value: bytes) -> None:
    producer = Producer(client(address))
    producer.produce("news", value, partition=1)
    assert producer.flush(PATIENCE_S) == 0


def next_value(consumer: Consumer) -> bytes:
    """Passes over errors that a client gets while the broker is away."""
    deadline = time.monotonic() + 3 * PATIENCE_S
    while time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is None:
            continue
        if not message.error():
            return message.value()
        assert not message.error().fatal(), message.error()
    raise AssertionError("no record")


def check_with_kafkas_tool(java: Sequence[str], data: Path) -> None:
    for folder in (data / "orders-0", data / "__cluster_metadata-0"):
        files = ",".join(str(path) for path in folder.glob("*.*index"))
        for option in ("--index-sanity-check", "--verify-index-only"):
            tool = [*java, "kafka.tools.DumpLogSegments", option, "--files", files]
            dumped = subprocess.run(tool, check=True, capture_output=True, text=True).stdout
            lines = [line.lower() for line in dumped.splitlines()]
            assert not [line for line in lines if "mismatch" in line or "error" in line], dumped
