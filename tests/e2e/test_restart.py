"""What a restart must not change, and what SIGTERM under load must not lose.

tests/crash kills brokers and compares the same: the long ones show it with a real client.
"""

from __future__ import annotations

import pytest
from confluent_kafka import OFFSET_END, TopicCollection, TopicPartition
from confluent_kafka.admin import OffsetSpec

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import StartBroker, new_topic
from tests.e2e.librdkafka import PATIENCE_S, admin, deliver, producer, read, read_values
from tests.e2e.load import Acknowledged, IdempotentLoad, RawLoad
from tests.e2e.raw_client import FETCH, batch, fetch_body, read_fetched

OUT_OF_ORDER_SEQUENCE, INVALID_PRODUCER_EPOCH = 45, 47


def restart(broker: BrokerProcess) -> None:
    code = broker.terminate()
    assert code == 0, broker.log()
    broker.start()


def identity(broker: BrokerProcess, topic: str) -> tuple[str, int, str, int]:
    """Cluster, node, topic and the number of its partitions."""
    client = admin(broker.bootstrap)
    cluster = client.describe_cluster(request_timeout=PATIENCE_S).result(PATIENCE_S)
    described = client.describe_topics(TopicCollection([topic]))[topic].result(PATIENCE_S)
    node = cluster.controller.id
    return cluster.cluster_id, node, str(described.topic_id), len(described.partitions)


def test_topics_records_and_identity_survive(start_broker: StartBroker) -> None:
    broker = start_broker()
    topic = new_topic(broker, 3, max__message__bytes="2000")
    headers = [("h", b"1")]
    for partition in range(3):
        values = [b"%d-%d" % (partition, n) for n in range(50)]
        deliver(producer(broker.bootstrap), topic, *values, partition=partition, headers=headers)
    before = identity(broker, topic)
    restart(broker)
    assert identity(broker, topic) == before
    for partition in range(3):
        messages = read(broker.bootstrap, topic, 50, partition=partition)
        assert [m.value() for m in messages] == [b"%d-%d" % (partition, n) for n in range(50)]
        assert messages[0].headers() == headers
    (report,) = deliver(producer(broker.bootstrap), topic, b"next", partition=0).messages
    assert report.offset() == 50
    assert deliver(producer(broker.bootstrap), topic, bytes(3_000)).errors, "configs survive too"


@pytest.mark.long
def test_deleted_records_stay_deleted(start_broker: StartBroker) -> None:
    broker = start_broker()
    topic = new_topic(broker, 2)
    for partition in range(2):
        deliver(producer(broker.bootstrap), topic, b"a", b"b", b"c", partition=partition)
    partitions = [TopicPartition(topic, 0, 2), TopicPartition(topic, 1, OFFSET_END)]
    client = admin(broker.bootstrap)
    for future in client.delete_records(partitions).values():
        future.result(PATIENCE_S)
    broker.kill()
    broker.start()
    starts = {TopicPartition(topic, partition): OffsetSpec.earliest() for partition in range(2)}
    client = admin(broker.bootstrap)
    found = {
        place.partition: future.result(PATIENCE_S).offset
        for place, future in client.list_offsets(starts).items()
    }
    assert found == {0: 2, 1: 3}
    (report,) = deliver(producer(broker.bootstrap), topic, b"d", partition=1).messages
    assert report.offset() == 3
    (left,) = read(broker.bootstrap, topic, 1, offset=2)
    assert left.value() == b"c"


@pytest.mark.long
def test_a_deleted_topic_stays_deleted(start_broker: StartBroker) -> None:
    broker = start_broker()
    remaining, deleted = new_topic(broker), new_topic(broker)
    for topic in (remaining, deleted):
        deliver(producer(broker.bootstrap), topic, b"value")
    client = admin(broker.bootstrap)
    client.delete_topics([deleted])[deleted].result(PATIENCE_S)
    restart(broker)
    listed = admin(broker.bootstrap).list_topics(timeout=PATIENCE_S).topics
    assert remaining in listed
    assert deleted not in listed


@pytest.mark.long
def test_added_partitions_and_times_survive(start_broker: StartBroker) -> None:
    broker = start_broker()
    topic = new_topic(broker)
    with broker.connect() as client:
        for number in range(200):
            client.produce(topic, batch([b"x"], timestamp_ms=1_600_000_000_000 + number))
        restart(broker)
    with broker.connect() as client:
        assert client.list_offset(topic, 0, 1_600_000_000_150) == (0, 150)
        assert client.end_offset(topic) == 200


@pytest.mark.long
def test_an_idempotent_producer_is_still_known(start_broker: StartBroker) -> None:
    broker = start_broker()
    topic = new_topic(broker)
    with broker.connect() as client:
        producer_id, epoch = client.init_producer_id()
        batches = [batch([b"%d" % n], producer=(producer_id, epoch, n)) for n in range(4)]
        for number, one in enumerate(batches[:3]):
            assert client.produce(topic, one) == (0, number)
    restart(broker)
    with broker.connect() as client:
        gap = batch([b"gap"], producer=(producer_id, epoch, 9))
        stale = batch([b"stale"], producer=(producer_id, epoch - 1, 0))
        assert client.produce(topic, gap).error == OUT_OF_ORDER_SEQUENCE
        assert client.produce(topic, stale).error == INVALID_PRODUCER_EPOCH
        # All that a client may have in flight; Apache Kafka itself keeps only the last one.
        for number, one in enumerate(batches[:3]):
            assert client.produce(topic, one) == (0, number), "a duplicate gets its first offset"
        assert client.produce(topic, batches[3]) == (0, 3)
        assert client.end_offset(topic) == 4


@pytest.mark.long
def test_a_producer_id_is_never_assigned_twice(start_broker: StartBroker) -> None:
    broker = start_broker()
    given: list[tuple[int, int]] = []
    for _ in range(3):
        with broker.connect() as client:
            given += [client.init_producer_id() for _ in range(5)]
        restart(broker)
    assert len(set(given)) == 15


def test_sigterm_under_load_loses_nothing_acknowledged(start_broker: StartBroker) -> None:
    broker = start_broker()
    topic = new_topic(broker, 3)
    acknowledged = Acknowledged()
    raw = [RawLoad(broker.address, topic, p, acknowledged) for p in range(2)]
    with IdempotentLoad(broker.address, topic, 2, acknowledged) as idempotent:
        for load in raw:
            load.start()
        acknowledged.wait_for_more(500)
        restart(broker)
        acknowledged.wait_for_more(50)
        idempotent.stop()
    with broker.connect() as client:
        for load in raw:
            load.join()
            load.check(client)
    idempotent.check(read_values(broker.bootstrap, topic, idempotent.produced, partition=2))


def test_sigterm_releases_a_waiting_fetch(start_broker: StartBroker) -> None:
    broker = start_broker()
    topic = new_topic(broker)
    with broker.connect() as waiting, broker.connect() as other:
        sent = waiting.send(FETCH, 4, fetch_body(topic, 0, 0, max_wait_ms=300_000))
        other.api_versions()
        assert broker.terminate() == 0
        received, response = waiting.receive()
        assert (received, read_fetched(response).records) == (sent, b"")
        assert waiting.is_closed_by_peer()
        assert other.is_closed_by_peer()


def test_idle_connections_do_not_delay_the_stop(start_broker: StartBroker) -> None:
    broker = start_broker()
    with broker.connect() as idle, broker.connect() as half:
        half.socket.sendall(b"\0\0\0")
        idle.api_versions()
        assert broker.terminate() == 0
        assert idle.is_closed_by_peer()
