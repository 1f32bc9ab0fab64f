"""Consumers with client.rack, real ones: old records from a replica in their rack."""

from __future__ import annotations

import hashlib
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest
from confluent_kafka import KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from domain.configs.settings.identity import RACK_AWARE
from interfaces.kafka.wire.messages.fetch import FetchResponse
from tests.contract.postgres_server import running_postgres
from tests.contract.s3_objects import Objects
from tests.contract.s3_server import running_s3
from tests.e2e import test_java
from tests.e2e.broker_process import PATIENCE_S, wait_until
from tests.e2e.cluster.brokers import Brokers, new_schema, store_of
from tests.e2e.conftest import EXTERNAL
from tests.e2e.librdkafka import assigned_consumer, deliver, producer
from tests.e2e.line_process import LineProcess
from tests.e2e.raw_client import NOT_LEADER_OR_FOLLOWER
from tests.fakes.structs import request_for

CLIENTS = Path(__file__).parent / "clients"
MB = 1 << 20
LEADER, FOLLOWER = 1, 2
RACKS = {LEADER: "a", FOLLOWER: "b"}
TRANSACTIONS, RECORDS, VALUE_BYTES = 60, 10, 80_000
#: Small tables and little memory, so that 48 MB are enough.
PROGRAM = (
    "from infrastructure.storage.postgresql import tails; tails.TAIL_BYTES = 4 << 20;"
    "from infrastructure.storage.postgresql import contents; contents.CACHE_BYTES = 1 << 20;"
    "from interfaces.main.__main__ import main; raise SystemExit(main())"
)


class Log(NamedTuple):
    brokers: Brokers
    topic: str
    committed: list[bytes]
    all: list[bytes]

    def served(self) -> dict[int, float]:
        """Megabytes of records, by broker."""
        return {one: self._served_by(one) / MB for one in RACKS}

    def _served_by(self, node_id: int) -> float:
        name = f'kafka_server_brokertopicmetrics_bytesout_total{{topic="{self.topic}"}}'
        return self.metric(node_id, name)

    def metric(self, node_id: int, name: str) -> float:
        url = f"http://{self.brokers[node_id].admin.bootstrap}/metrics"
        text = urlopen(url, timeout=PATIENCE_S).read().decode()
        return sum(
            float(one) for one in re.findall(rf"^{re.escape(name)} (\S+)", text, re.MULTILINE)
        )


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Of transactions, each third of which was aborted; almost all of it is in objects."""
    if EXTERNAL:
        pytest.skip("starts brokers of its own; OTTLA_TEST_BOOTSTRAP names another")
    server = running_s3()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        objects = Objects(server)
        url = f"{store_of(running_postgres().folder, new_schema())}{objects.url}&local.bytes=0"
        more = {
            node_id: [
                *("--set", f"broker.rack={rack}", "--admin", "127.0.0.1:0"),
                *("--set", f"replica.selector.class={RACK_AWARE}"),
            ]
            for node_id, rack in RACKS.items()
        }
        program = [sys.executable, "-P", "-c", PROGRAM]
        folder = tmp_path_factory.mktemp("racks")
        brokers = Brokers(folder, dict.fromkeys(RACKS, url), more=more, program=program)
    with brokers:
        yield filled(brokers)


def filled(brokers: Brokers) -> Log:
    log = Log(brokers, "replayed", [], [])
    created = NewTopic(log.topic, 1, replica_assignment=[[LEADER, FOLLOWER]])
    admin = AdminClient({"bootstrap.servers": brokers.bootstrap})
    admin.create_topics([created])[log.topic].result(PATIENCE_S)
    sender = producer(brokers.bootstrap, **{"transactional.id": "t", "linger.ms": 5})
    sender.init_transactions(PATIENCE_S)
    numbers = random.Random(1)
    for number in range(TRANSACTIONS):
        values = [numbers.randbytes(VALUE_BYTES) for _ in range(RECORDS)]
        sender.begin_transaction()
        for value in values:
            sender.produce(log.topic, value, partition=0)
        assert sender.flush(PATIENCE_S) == 0  # an abort would drop what is not sent yet
        log.all.extend(values)
        if number % 3:
            sender.commit_transaction(PATIENCE_S)
            log.committed.extend(values)
        else:
            sender.abort_transaction(PATIENCE_S)
    most = sum(map(len, log.all)) - 8 * MB
    wait_until(lambda: log.metric(LEADER, 'ottla_store_batch_bytes{place="objects"}') > most)
    return log


def expected(log: Log, isolation: str) -> list[bytes]:
    return log.committed if isolation == "read_committed" else log.all


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
@pytest.mark.long
def test_librdkafka_reads_old_records_from_its_rack(log: Log, isolation: str) -> None:
    """It sees the end of the partition once, at its end, and records that come then."""
    before, wanted = log.served(), expected(log, isolation)
    settings = {"client.rack": "b", "isolation.level": isolation, "enable.partition.eof": True}
    values: list[bytes | None] = []
    with assigned_consumer(log.brokers.bootstrap, log.topic, **settings) as consumer:
        ends = 0
        last = -1
        while not ends:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"{len(values)} records, and nothing more"
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                ends += 1
                continue
            assert (message.offset() or 0) > last
            last = message.offset() or 0
            values.append(message.value())
        assert values == wanted
        new = b"after " + isolation.encode()
        deliver(producer(log.brokers.bootstrap), log.topic, new, partition=0)
        log.all.append(new)
        log.committed.append(new)
        message = consumer.poll(PATIENCE_S)
        assert message is not None and message.value() == new
    after = log.served()
    served = {one: after[one] - before[one] for one in RACKS}
    assert served[FOLLOWER] > 30, served
    assert served[LEADER] < 20, served


@pytest.mark.parametrize(
    "isolation", ["read_committed", pytest.param("read_uncommitted", marks=pytest.mark.long)]
)
def test_java_reads_old_records_from_its_rack(log: Log, isolation: str, tmp_path: Path) -> None:
    before, wanted = log.served(), expected(log, isolation)
    java = LineProcess(
        test_java.compiled(test_java.VERSIONS[0], CLIENTS / "Racks.java"), tmp_path / "stderr"
    )
    request = (log.brokers.bootstrap, log.topic, "b", isolation, str(len(wanted)))
    digest = hashlib.sha256(b"".join(wanted)).hexdigest()
    assert java.request("\t".join(request)) == f"{len(wanted)} {digest}", java.complaints()
    java.close()
    after = log.served()
    served = {one: after[one] - before[one] for one in RACKS}
    assert served[FOLLOWER] > 30, served
    assert served[LEADER] < 20, served


@pytest.mark.parametrize("rack", ["a", "c", ""])
def test_the_leader_serves_clients_of_other_racks(log: Log, rack: str) -> None:
    before = log.served()
    settings = {"client.rack": rack} if rack else {}
    with assigned_consumer(log.brokers.bootstrap, log.topic, **settings) as consumer:
        for _ in range(20):
            message = consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None
    assert log.served()[FOLLOWER] == before[FOLLOWER]


def fetched_from_the_replica(log: Log, offset: int) -> tuple[int, int]:
    """Error code and log start."""
    place = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": MB}
    topics = [{"topic": log.topic, "partitions": [place]}]
    request = request_for("fetch", max_wait_ms=0, min_bytes=1, rack_id="b", topics=topics)
    with log.brokers[FOLLOWER].connect() as client:
        rest = client.request(request.api_key, 11, b"".join(request.encode(11))).rest()
    response, _ = FetchResponse.decode(11, rest, 0)
    [partition] = response.responses[0].partitions
    return partition.error_code, partition.log_start_offset


def test_deleted_records_do_not_come_back_from_the_replica(log: Log) -> None:
    """Not for a moment. A consumer is reset by the leader alone."""
    admin = AdminClient({"bootstrap.servers": log.brokers.bootstrap})
    assert fetched_from_the_replica(log, 0) == (0, 0)
    for offset in (1, 15, 120):
        [deleted] = admin.delete_records([TopicPartition(log.topic, 0, offset)]).values()
        deleted.result(PATIENCE_S)
        assert fetched_from_the_replica(log, offset - 1) == (NOT_LEADER_OR_FOLLOWER, -1)
        assert fetched_from_the_replica(log, offset) == (0, offset)
    settings = {"client.rack": "b", "auto.offset.reset": "earliest"}
    with assigned_consumer(log.brokers.bootstrap, log.topic, 5, **settings) as consumer:
        message = consumer.poll(PATIENCE_S)
        assert message is not None and message.error() is None
        assert message.offset() == 120 + 1  # there is the marker of a transaction


def test_a_consumer_goes_on_at_the_leader_when_the_replica_is_killed(log: Log) -> None:
    before = log.served()
    settings = {"client.rack": "b", "isolation.level": "read_committed"}
    settings |= {"queued.max.messages.kbytes": 1000, "fetch.message.max.bytes": 500_000}
    values: list[bytes | None] = []
    with assigned_consumer(log.brokers.bootstrap, log.topic, 200, **settings) as consumer:
        while not values or values[-1] != log.committed[-1]:
            message = consumer.poll(PATIENCE_S)
            assert message is not None and message.error() is None
            values.append(message.value())
            if len(values) == 100:
                assert log.served()[FOLLOWER] > before[FOLLOWER] + 5
                log.brokers[FOLLOWER].kill()
    assert len(values) > 200
    assert values == log.committed[-len(values) :]
