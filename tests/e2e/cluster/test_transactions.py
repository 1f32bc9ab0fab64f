"""Transactions over partitions and groups of three brokers, which stop and die meanwhile."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest
from confluent_kafka import Consumer, ElectionType, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.e2e.broker_process import wait_until
from tests.e2e.cluster.brokers import Brokers
from tests.e2e.cluster.conftest import LONG_LEASE, NODE_IDS, NewTopic
from tests.e2e.cluster.views import transaction_coordinator_of
from tests.e2e.conftest import unused_topic_name
from tests.e2e.librdkafka import PATIENCE_S, producer
from tests.e2e.line_process import LineProcess
from tests.e2e.test_java import FOLDER, VERSIONS, compiled
from tests.e2e.transactions.lines import LineClient, kafkajs_process
from tests.e2e.transactions.stories import TransactionStories
from tests.e2e.transactions.test_confluent import Librdkafka

PARTITIONS = 6
SHORT_LEASES = tuple(one for one in NODE_IDS if one != LONG_LEASE)


# ---- the stories of all clients


class OverBrokers(TransactionStories):
    @pytest.fixture
    def bootstrap(self, cluster: Brokers) -> str:
        return cluster.bootstrap

    @pytest.fixture
    def create_topic(self, new_topic: NewTopic) -> NewTopic:
        return lambda partitions=1: new_topic(partitions)

    @pytest.fixture
    def topic(self, new_topic: NewTopic) -> str:
        return new_topic(1)


class TestLibrdkafka(OverBrokers):
    @pytest.fixture
    def client(self, bootstrap: str) -> Librdkafka:
        return Librdkafka(bootstrap)


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineProcess]:
    errors = tmp_path_factory.mktemp("java") / "stderr"
    process = LineProcess(compiled(VERSIONS[0], FOLDER / "Transactions.java"), errors)
    yield process
    process.close()


@pytest.mark.long
class TestJava(OverBrokers):
    @pytest.fixture
    def client(self, java: LineProcess, bootstrap: str) -> LineClient:
        return LineClient(java, bootstrap)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineProcess]:
    with kafkajs_process(tmp_path_factory.mktemp("kafkajs")) as process:
        yield process


@pytest.mark.long
class TestKafkaJS(OverBrokers):
    @pytest.fixture
    def client(self, node: LineProcess, cluster: Brokers) -> LineClient:
        return LineClient(node, cluster[1].bootstrap)


# ---- brokers that stop and die


def coordinator_of(cluster: Brokers, transactional_id: str, by: int) -> int:
    found: list[int] = []

    def is_found() -> bool:
        with cluster[by].connect() as client:
            error, node_id = transaction_coordinator_of(client, transactional_id)
        found[:] = [] if error else [node_id]
        return bool(found)

    wait_until(is_found)
    return found[0]


def coordinated_by(cluster: Brokers, *node_ids: int) -> str:
    """A transactional id. A broker that was away gets back first what it led."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.elect_leaders(ElectionType.PREFERRED, None).result(PATIENCE_S)
    names = (unused_topic_name() for _ in count())
    return next(one for one in names if coordinator_of(cluster, one, LONG_LEASE) in node_ids)


@contextmanager
def paused(cluster: Brokers, node_id: int) -> Iterator[None]:
    process = cluster[node_id].process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


class Writer:
    """Writes numbers, each transaction to all partitions, perhaps with the offset of a group."""

    def __init__(
        self, cluster: Brokers, transactional_id: str, topic: str, offsets: bool = False
    ) -> None:
        # With re-bootstrapping, librdkafka 2.16 may lose its transaction coordinator for good.
        self._settings = {
            "transactional.id": transactional_id,
            "metadata.recovery.strategy": "none",
        }
        self._bootstrap = cluster.bootstrap
        self.topic, self.group = topic, unused_topic_name()
        # So that there are group metadata; it never polls.
        self._member = Consumer({"bootstrap.servers": self._bootstrap, "group.id": self.group})
        # After a lost coordinator librdkafka 2.16 may wait in it without sending anything.
        self._has_offsets = offsets
        self.committed: list[str] = []
        self.number = 0
        self._producer = self._started()

    def _started(self) -> Producer:
        started = producer(self._bootstrap, **self._settings)
        started.init_transactions(PATIENCE_S)
        return started

    def begin(self) -> str:
        value = str(self.number)
        self.number += 1
        self._producer.begin_transaction()
        for partition in range(PARTITIONS):
            self._producer.produce(self.topic, value, partition=partition)
        assert self._producer.flush(PATIENCE_S) == 0
        if self._has_offsets:
            self._producer.send_offsets_to_transaction(
                [TopicPartition(self.topic, 0, self.number)],
                self._member.consumer_group_metadata(),
                PATIENCE_S,
            )
        return value

    def commit(self, value: str) -> None:
        self._producer.commit_transaction(PATIENCE_S)
        self.committed.append(value)

    def write(self, aborts: bool = False) -> None:
        value = self.begin()
        if aborts:
            self._producer.abort_transaction(PATIENCE_S)
        else:
            self.commit(value)

    def write_through(self) -> None:
        """Whatever the client makes of a failure: its transaction ends in one way."""
        try:
            self.write()
        except KafkaException as failure:
            error = failure.args[0]
            assert error.txn_requires_abort(), error
            self._producer.abort_transaction(PATIENCE_S)

    def check(self) -> None:
        """Each committed transaction once in each partition, and no other one."""
        for partition in range(PARTITIONS):
            assert committed_values(self._bootstrap, self.topic, partition) == self.committed
        if self._has_offsets:
            offset = int(self.committed[-1]) + 1
            wait_until(lambda: self._committed_offset() == offset)
        self._member.close()

    def _committed_offset(self) -> int:
        [found] = self._member.committed([TopicPartition(self.topic, 0)], PATIENCE_S)
        return int(found.offset)


def committed_values(bootstrap: str, topic: str, partition: int) -> list[str]:
    """Up to the end of the log, which no open transaction hides."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "auto.offset.reset": "error",
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
        "fetch.wait.max.ms": 100,
    }
    consumer = Consumer(settings)
    place = TopicPartition(topic, partition, 0)
    consumer.assign([place])
    values: list[str] = []
    while True:
        message = consumer.poll(PATIENCE_S)
        assert message is not None
        if message.error() is None:
            values.append((message.value() or b"").decode())
            continue
        assert message.error().name() == "_PARTITION_EOF", message.error()
        _, end = consumer.get_watermark_offsets(place, PATIENCE_S)
        [position] = consumer.position([place])
        if position.offset == end:
            consumer.close()
            return values


def test_a_transaction_is_in_the_partitions_of_all_brokers(
    cluster: Brokers, new_topic: NewTopic
) -> None:
    for _ in range(3):
        writer = Writer(cluster, unused_topic_name(), new_topic(PARTITIONS), offsets=True)
        for number in range(6):
            writer.write(aborts=number % 3 == 1)
        writer.check()


@pytest.mark.parametrize("aborts", [pytest.param(False, marks=pytest.mark.long), True])
def test_the_coordinator_dies_between_prepare_and_complete(
    cluster: Brokers, new_topic: NewTopic, aborts: bool
) -> None:
    """A leader of other partitions is stopped: it writes no marker before the coordinator dies."""
    transactional_id = coordinated_by(cluster, *SHORT_LEASES)
    coordinator = coordinator_of(cluster, transactional_id, LONG_LEASE)
    writer = Writer(cluster, transactional_id, new_topic(PARTITIONS))
    writer.write()
    value = writer.begin()
    with paused(cluster, LONG_LEASE):
        if aborts:
            writer._producer.abort_transaction(PATIENCE_S)
        else:
            writer.commit(value)
        cluster[coordinator].kill()
    wait_until(lambda: coordinator_of(cluster, transactional_id, LONG_LEASE) != coordinator)
    writer.write()
    writer.check()


def test_a_leader_dies_before_it_writes_the_marker(cluster: Brokers, new_topic: NewTopic) -> None:
    transactional_id = coordinated_by(cluster, *SHORT_LEASES)
    coordinator = coordinator_of(cluster, transactional_id, LONG_LEASE)
    [leader] = [one for one in SHORT_LEASES if one != coordinator]
    writer = Writer(cluster, transactional_id, new_topic(PARTITIONS))
    writer.write()
    value = writer.begin()
    with paused(cluster, leader):
        writer.commit(value)
        cluster[leader].kill()
    writer.write()
    writer.check()


@pytest.mark.long
@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_transactions_go_on_when_any_broker_ends(
    cluster: Brokers, new_topic: NewTopic, end: str
) -> None:
    writer = Writer(cluster, coordinated_by(cluster, *SHORT_LEASES), new_topic(PARTITIONS))
    writer.write()
    for node_id in SHORT_LEASES if end == "killed" else NODE_IDS:
        value = writer.begin()
        if end == "killed":
            cluster[node_id].kill()
        else:
            assert cluster[node_id].terminate() == 0
        writer.commit(value)
        writer.write_through()
        cluster[node_id].start()
        cluster.wait_for_nodes()
        writer.write_through()
    assert len(writer.committed) >= 1 + len(SHORT_LEASES)
    writer.check()
