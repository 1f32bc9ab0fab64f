"""Three brokers over one database: leaders, a stop, a SIGKILL, and a return."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread

import pytest
from confluent_kafka import ElectionType, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.broker_process import BrokerProcess, environment, wait_until
from tests.e2e.conftest import EXTERNAL
from tests.e2e.librdkafka import assigned_consumer, read_values

NODES = (1, 2, 3)
PARTITIONS = 6
SETTINGS = (
    "broker.session.timeout.ms=2000",
    "broker.heartbeat.interval.ms=300",
    "default.replication.factor=2",
    "leader.imbalance.check.interval.seconds=3600",
)


@pytest.fixture
def brokers(tmp_path: Path, url: str) -> Iterator[dict[int, BrokerProcess]]:
    if EXTERNAL:
        pytest.skip("starts brokers of its own; OTTLA_TEST_BOOTSTRAP names another")
    with ExitStack() as stack:
        started = {}
        for node_id in NODES:
            words = [word for one in (*SETTINGS, f"node.id={node_id}") for word in ("--set", one)]
            variables = environment() | {"OTTLA_STORAGE": url}
            broker = BrokerProcess(
                tmp_path / f"broker-{node_id}", "default", words, variables=variables
            )
            started[node_id] = stack.enter_context(broker)
        yield started


def admin_of(broker: BrokerProcess) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def leaders(broker: BrokerProcess) -> list[int]:
    metadata = admin_of(broker).list_topics("t", timeout=10).topics["t"].partitions
    return [metadata[index].leader for index in sorted(metadata)]


def end_offset(broker: BrokerProcess, index: int) -> int:
    with assigned_consumer(broker.bootstrap, "t", partition=index) as consumer:
        end: int = consumer.get_watermark_offsets(TopicPartition("t", index), 10)[1]
        return end


class Load:
    """An idempotent producer that never pauses."""

    def __init__(self, bootstrap: str) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 5,
                "topic.metadata.refresh.interval.ms": 500,
            }
        )
        self.sent = self.acknowledged = 0
        self.failed: list[KafkaError] = []
        self._stop = Event()
        self._thread = Thread(target=self._run)

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def _run(self) -> None:
        while not self._stop.is_set():
            value, partition = b"%d" % self.sent, self.sent % PARTITIONS
            self._producer.produce("t", value, partition=partition, on_delivery=self._delivered)
            self.sent += 1
            self._producer.poll(0.002)
        self._producer.flush(60)

    def _delivered(self, error: KafkaError | None, message: object) -> None:
        if error is not None:
            self.failed.append(error)
        else:
            self.acknowledged += 1

    def goes_on(self) -> None:
        """New records of every partition are acknowledged."""
        before = self.acknowledged
        wait_until(lambda: self.acknowledged > before + 20 * PARTITIONS)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def test_brokers_share_partitions_and_take_over_from_each_other(
    brokers: dict[int, BrokerProcess],
) -> None:
    first = brokers[1]
    wait_until(lambda: len(admin_of(first).list_topics(timeout=10).brokers) == len(NODES))
    admin = admin_of(first)
    [created] = admin.create_topics([NewTopic("t", PARTITIONS)]).values()
    created.result(30)
    assert Counter(leaders(first)) == {1: 2, 2: 2, 3: 2}
    bootstrap = ",".join(broker.bootstrap for broker in brokers.values())
    with Load(bootstrap) as load:
        load.goes_on()
        brokers[2].kill()
        wait_until(lambda: 2 not in leaders(first))
        load.goes_on()
        began = time.monotonic()
        assert brokers[3].terminate() == 0, brokers[3].log()
        wait_until(lambda: set(leaders(first)) == {1})
        assert time.monotonic() - began < 10
        load.goes_on()
        for node_id in (2, 3):
            brokers[node_id].start()
        admin.elect_leaders(ElectionType.PREFERRED, None).result(30)
        wait_until(lambda: Counter(leaders(first)) == {1: 2, 2: 2, 3: 2})
        load.goes_on()
    assert load.failed == []
    for index in range(PARTITIONS):
        # In the order in which they were sent, each once.
        expected = [one for one in range(load.sent) if one % PARTITIONS == index]
        assert end_offset(first, index) == len(expected)
        read = read_values(first.bootstrap, "t", len(expected), index)
        assert [int(value or b"-1") for value in read] == expected
