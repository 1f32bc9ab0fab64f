"""Clients of an Apache Kafka continue with Ottla: after `ottla import kafka`, or in place.

The folder is the golden one of a real Kafka; with --long also that of a Kafka which is filled now,
whose open transaction has not timed out.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from domain.configs.settings.access import STANDARD_AUTHORIZER
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from domain.transactions.state_record import transaction_record
from domain.transactions.states import State
from infrastructure.kafka_folder.folder import KafkaFolder
from infrastructure.kafka_folder.producer_snapshot import SnapshotEntry
from interfaces.cli.kafka_import.planning import make_plan
from interfaces.kafka.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from interfaces.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from tests.e2e.broker_process import Address, BrokerProcess, command, environment, wait_until
from tests.e2e.kafka_folder.filling import (
    PASSWORD,
    SETTINGS,
    SUPER,
    USER,
    VERSION_2,
    expected,
    fill,
)
from tests.e2e.kafka_folder.reading import PATIENCE_S
from tests.e2e.raw_client import batch
from tests.fakes.kafka_folder import EXPECTED, append_records, expected_of, unpacked
from tests.oracle.kafka import KafkaNotFound, find_jars, running_kafka
from tests.oracle.scenario_run import ScenarioRun, Topic
from tests.oracle.transactions import Producer as TransactionalProducer

FAR = 2_000_000_000
#: Of a golden folder everything is old.
OPTIONS = (
    *("--listen", "PLAINTEXT://127.0.0.1:0", "--listen", "SASL_PLAINTEXT://127.0.0.1:0"),
    *("--set", f"authorizer.class.name={STANDARD_AUTHORIZER}"),
    *("--set", f"super.users=User:ANONYMOUS;User:{SUPER}"),
    *("--set", f"log.retention.check.interval.ms={FAR}"),
    *("--set", f"offsets.retention.check.interval.ms={FAR}"),
    *("--set", f"transactional.id.expiration.ms={FAR}"),
    *("--set", "transaction.abort.timed.out.transaction.cleanup.interval.ms=100"),
    *("--set", f"producer.id.expiration.check.interval.ms={FAR}"),
)
OUT_OF_ORDER_SEQUENCE, INVALID_PRODUCER_EPOCH = 45, 47
PRODUCER_FENCED = 90


class Imported(NamedTuple):
    broker: BrokerProcess
    folder: Path
    expected: dict[str, Any]
    is_live: bool

    @property
    def login(self) -> str:
        one = self.broker.ready["listeners"][1]
        return f"{one['host']}:{one['port']}"

    def producers(self, topic: str, partition: int) -> list[SnapshotEntry]:
        with KafkaFolder(self.folder) as folder:
            return folder.log((topic, partition)).producers(1 << 62)[1]


def import_folder(
    folder: Path, data: Path, *options: str, engine: str = "lmdb"
) -> subprocess.CompletedProcess[str]:
    store = "--storage", f"{engine}://{data}"
    words = command("import", "kafka", str(folder), *store, *options)
    return subprocess.run(
        words, capture_output=True, text=True, env=environment(), timeout=60, check=False
    )


def filled(place: Path) -> Path:
    try:
        jars = find_jars()
    except KafkaNotFound as reason:
        pytest.skip(str(reason))
    with running_kafka(jars, place, SETTINGS) as address:
        opened = fill(address, place / "data")
        (place / EXPECTED).write_text(json.dumps(expected(address.bootstrap)))
    del opened
    return place / "data"


@pytest.fixture(
    scope="module",
    params=[
        "golden",
        "golden in place",
        pytest.param("golden into files", marks=pytest.mark.long),
        pytest.param("live", marks=pytest.mark.long),
        pytest.param("live in place", marks=pytest.mark.long),
    ],
)
def imported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Imported]:
    kind, _, how = str(request.param).partition(" ")
    engine = "files" if how else "lmdb"
    place = tmp_path_factory.mktemp(kind)
    folder = filled(place) if kind == "live" else unpacked(place)
    data = place / "ottla" / "data"
    if how == "in place":
        shutil.copytree(folder, data)
    else:
        done = import_folder(folder, data, engine=engine)
        assert done.returncode == 0, done.stderr
        assert "counts and checksums of all batches are those of" in done.stderr
    with BrokerProcess(place / "ottla", engine, OPTIONS) as broker:
        made = Imported(broker, folder, expected_of(place), kind == "live")
        ended(made)
        yield made
        assert broker.terminate() == 0


def ended(imported: Imported) -> None:
    """Open transactions of a golden folder have timed out long ago: their markers are written."""
    if imported.is_live:
        return
    for topic, partition in (("transactions", 1), (VERSION_2, 0)):
        last = imported.expected["topics"][topic][partition]
        last["high"] += 1
        with imported.broker.connect() as client:
            wait_until(lambda: client.end_offset(topic, partition) == last["high"])  # noqa: B023


def test_clients_find_every_record_and_committed_offset(imported: Imported) -> None:
    found = json.loads(json.dumps(expected(imported.broker.bootstrap)))
    assert found["groups"] == imported.expected["groups"]
    for topic, partitions in imported.expected["topics"].items():
        assert found["topics"][topic] == partitions, topic


@pytest.mark.parametrize(
    "group, protocol", [("classic-group", "classic"), ("consumer-group", "consumer")]
)
def test_a_group_continues_after_its_committed_offsets(
    imported: Imported, group: str, protocol: str
) -> None:
    topic = "segments" if protocol == "classic" else "codecs"
    committed = imported.expected["groups"][group]
    consumer = Consumer(
        {
            "bootstrap.servers": imported.broker.bootstrap,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    firsts: dict[int, int] = {}
    highs = [one["high"] for one in imported.expected["topics"][topic]]
    starts = [committed.get(f"{topic} {number}", 0) for number in range(len(highs))]
    left = sum(high - start for high, start in zip(highs, starts, strict=True))
    for _ in range(left):
        message = consumer.poll(PATIENCE_S)
        assert message is not None and message.error() is None
        firsts.setdefault(message.partition() or 0, message.offset() or 0)
    assert firsts == {
        n: at for n, (at, high) in enumerate(zip(starts, highs, strict=True)) if at < high
    }
    consumer.commit(asynchronous=False)
    consumer.close()


def test_an_idempotent_producer_continues_and_its_retries_are_recognised(
    imported: Imported,
) -> None:
    [one] = imported.producers("segments", 0)
    with imported.broker.connect() as client:
        end = client.end_offset("segments")
        sent = batch([b"more"], producer=(one.producer_id, one.epoch, one.last_sequence + 1))
        gap = batch([b"gap"], producer=(one.producer_id, one.epoch, one.last_sequence + 3))
        assert client.produce("segments", gap).error == OUT_OF_ORDER_SEQUENCE
        assert client.produce("segments", sent) == (0, end)
        assert client.produce("segments", sent) == (0, end)
        stale = batch([b"old"], producer=(one.producer_id, one.epoch - 1, 0))
        assert client.produce("segments", stale).error in (INVALID_PRODUCER_EPOCH, 42, 87)


def test_a_producer_whose_batches_are_gone_is_known(imported: Imported) -> None:
    one = next(one for one in imported.producers("trimmed", 0) if one.last_offset < 10)
    with imported.broker.connect() as client:
        end = client.end_offset("trimmed")
        after = batch([b"x"], producer=(one.producer_id, one.epoch, one.last_sequence + 2))
        assert client.produce("trimmed", after).error == OUT_OF_ORDER_SEQUENCE
        following = batch([b"x"], producer=(one.producer_id, one.epoch, one.last_sequence + 1))
        assert client.produce("trimmed", following) == (0, end)


def test_the_open_transaction_ends(imported: Imported) -> None:
    ids = {one.producer_id: one for one in imported.producers("transactions", 1)}
    one = next(one for one in ids.values() if one.first_offset >= 0)
    run = ScenarioRun(imported.broker.address, "import", "end", 0)
    request = EndTxnRequest(
        transactional_id="stays-open",
        producer_id=one.producer_id,
        producer_epoch=one.epoch,
        committed=True,
    )
    code = run.call(request, EndTxnResponse, 3).error_code
    run.close()
    before = imported.expected["topics"]["transactions"][1]
    read = expected(imported.broker.bootstrap)
    committed = read["topics"]["transactions"][1]["committed"]
    if imported.is_live:
        assert code == 0
        assert committed == [*before["committed"], 8, 9, 10]
        assert read["groups"]["copiers"] == {"segments 0": 33}
    else:
        assert code in (INVALID_PRODUCER_EPOCH, PRODUCER_FENCED)
        assert committed == before["committed"]
        assert read["groups"]["copiers"] == {"segments 0": 2}


def continued(imported: Imported, short: str, run: ScenarioRun) -> TransactionalProducer:
    """The producer of the folder, which knows nothing of the import."""
    with KafkaFolder(imported.folder) as folder:
        plan = make_plan(folder)
    [known] = [one for one in plan.transactions if one.transactional_id == f"version-2-v0-{short}"]
    sender = TransactionalProducer.__new__(TransactionalProducer)
    sender.__dict__ |= {
        "_run": run,
        "_sequence": 0,
        "name": known.transactional_id,
        "id": known.producer_id,
        "epoch": known.epoch,
    }
    return sender


def test_a_producer_of_transaction_version_2_continues_with_its_epoch(imported: Imported) -> None:
    with KafkaFolder(imported.folder) as folder:
        ids = {topic.name: topic.topic_id for topic in make_plan(folder).topics}
    run = ScenarioRun(imported.broker.address, "import", "version", 2)
    sender = continued(imported, "ends", run)
    epoch = sender.epoch
    sender.send(Topic(VERSION_2, ids[VERSION_2]), "continued")
    sender.end(version=5)
    assert sender.epoch == epoch + 1
    opened = continued(imported, "opens", run)
    code = run.call(opened.ending(), EndTxnResponse, 5).error_code
    run.close()
    assert code == 0 if imported.is_live else code in (INVALID_PRODUCER_EPOCH, PRODUCER_FENCED)
    before = imported.expected["topics"][VERSION_2][0]
    read = expected(imported.broker.bootstrap)["topics"][VERSION_2][0]["committed"]
    open_ones = [one[0] for one in before["records"] if one[4] in ("opens-1", "more")][-2:]
    new = read[len(before["committed"]) :]
    assert read[: len(before["committed"])] == before["committed"]
    assert new[: len(open_ones)] == open_ones if imported.is_live else len(new) == 1


def test_a_transaction_that_was_ending_is_ended(tmp_path: Path) -> None:
    """Kafka had decided to commit it, and stopped before the markers."""
    folder = unpacked(tmp_path / "kafka")
    with KafkaFolder(folder) as opened:
        plan = make_plan(opened)
    [open_one] = [one for one in plan.transactions if one.transactional_id == "stays-open"]
    prepared = open_one._replace(state=State.PREPARE_COMMIT)
    places = [*open_one.partitions, (OFFSETS_TOPIC, 0)]
    append_records(folder, TRANSACTION_TOPIC, transaction_record(prepared, places, 2))
    assert import_folder(folder, tmp_path / "ottla" / "data").returncode == 0
    with BrokerProcess(tmp_path / "ottla", "lmdb", OPTIONS) as broker:
        before = expected_of(tmp_path / "kafka")["topics"]["transactions"][1]
        with broker.connect() as client:
            wait_until(lambda: client.end_offset("transactions", 1) == before["high"] + 1)
        read = expected(broker.bootstrap)
        assert read["topics"]["transactions"][1]["committed"] == [*before["committed"], 8, 9, 10]
        assert read["groups"]["copiers"] == {"segments 0": 33}
        assert broker.terminate() == 0


@pytest.mark.parametrize("transactional_id", ["commits", "aborts"])
def test_a_transactional_id_continues(imported: Imported, transactional_id: str) -> None:
    sender = Producer(
        {"bootstrap.servers": imported.broker.bootstrap, "transactional.id": transactional_id}
    )
    sender.init_transactions(PATIENCE_S)
    sender.begin_transaction()
    sender.produce("stamped", b"from " + transactional_id.encode())
    sender.commit_transaction(PATIENCE_S)
    with KafkaFolder(imported.folder) as folder:
        known = folder.log(("transactions", 0)).producers(1 << 62)[1]
    with imported.broker.connect() as client:
        # A new producer id is none of Kafka's.
        given, _ = client.init_producer_id()
        assert given >= 1000 > max(one.producer_id for one in known)


def consumer_of(imported: Imported, user: str, mechanism: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": imported.login,
            "group.id": "of-a-user",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": PASSWORD,
            "enable.auto.commit": False,
        }
    )


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_users_log_in_and_have_their_rights(imported: Imported, mechanism: str) -> None:
    consumer = consumer_of(imported, USER, mechanism)
    consumer.assign([TopicPartition("segments", 1, 0)])
    message = consumer.poll(PATIENCE_S)
    assert message is not None and message.error() is None
    refused = consumer.list_topics("codecs", PATIENCE_S).topics["codecs"].error
    assert refused is not None
    assert refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    consumer.close()


def test_a_super_user_logs_in(imported: Imported) -> None:
    consumer = consumer_of(imported, SUPER, "SCRAM-SHA-512")
    assert consumer.get_watermark_offsets(TopicPartition("codecs", 0), PATIENCE_S) == (0, 40)
    consumer.close()


def test_acls_and_quotas_are_described(imported: Imported) -> None:
    admin = AdminClient({"bootstrap.servers": imported.broker.bootstrap})
    everything = AclBindingFilter(
        ResourceType.ANY,
        None,  # type: ignore[arg-type]
        ResourcePatternType.ANY,
        None,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    assert len(admin.describe_acls(everything).result(PATIENCE_S)) == 5
    run = ScenarioRun(Address(*imported.broker.address), "import", "quotas", 0)
    request = DescribeClientQuotasRequest(components=[ComponentData("user", 2, None)])
    described = run.call(request, DescribeClientQuotasResponse, 1)
    run.close()
    values = {one.key: one.value for entry in described.entries or () for one in entry.values}
    assert values == {"producer_byte_rate": 50_000_000.0, "consumer_byte_rate": 60_000_000.0}
