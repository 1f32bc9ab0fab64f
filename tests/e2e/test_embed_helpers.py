"""What tests do with `ottla.Broker` without a client library, beside a real client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from interfaces.embed import Broker, Record, RestError


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


def consumer_of(broker: Broker, group: str) -> Consumer:
    return Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group})


def test_records_of_helpers_and_of_clients_are_the_same(broker: Broker) -> None:
    broker.create_topic("orders", partitions=2, configs={"max.message.bytes": 2_000_000})
    broker.produce(
        "orders", b"\x00\xff", key="k", headers=[("a", b"\xfe"), ("b", None)], partition=1
    )
    broker.produce("orders", *[f"value {n}" for n in range(2500)], None, partition=0)
    with_client = Producer({"bootstrap.servers": broker.bootstrap_servers})
    with_client.produce("orders", b"of a client", partition=1, timestamp=1_700_000_000_000)
    assert with_client.flush(20) == 0

    records = broker.records("orders")
    assert [record.value for record in records[:2500]] == [b"value %d" % n for n in range(2500)]
    assert records[2500].value is None
    first, second = records[2501:]
    assert first._replace(timestamp_ms=0) == Record(
        "orders", 1, 0, 0, b"k", b"\x00\xff", (("a", b"\xfe"), ("b", None))
    )
    assert second == Record("orders", 1, 1, 1_700_000_000_000, None, b"of a client")

    consumer = consumer_of(broker, "readers")
    consumer.assign([TopicPartition("orders", 1, 0)])
    message = consumer.poll(20)
    consumer.close()
    assert message is not None
    assert (message.key(), message.value()) == (b"k", b"\x00\xff")
    assert message.headers() == [("a", b"\xfe"), ("b", None)]


def test_waiting_for_records_ends_when_the_last_one_is_there(broker: Broker) -> None:
    """Also of a topic that does not exist at first."""
    found: list[Record] = []
    waiting = threading.Thread(target=lambda: found.extend(broker.wait_for_records("later", 2)))
    waiting.start()
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for value in (b"one", b"two"):
        producer.produce("later", value)
        assert producer.flush(20) == 0
    waiting.join(20)
    assert [record.value for record in found] == [b"one", b"two"]
    with pytest.raises(TimeoutError, match="later has 2 of 3 records"):
        broker.wait_for_records("later", 3, timeout_s=0.01)


def test_waiting_for_the_lag_of_a_group(broker: Broker) -> None:
    broker.create_topic("bills")
    broker.produce("bills", "a", "b", "c")
    with pytest.raises(TimeoutError, match="group clerks has no committed offsets"):
        broker.wait_for_lag("clerks", timeout_s=0.01)
    consumer = consumer_of(broker, "clerks")
    consumer.commit(offsets=[TopicPartition("bills", 0, 1)], asynchronous=False)
    broker.wait_for_lag("clerks", 2)
    with pytest.raises(TimeoutError, match="group clerks has lag bills-0: 2"):
        broker.wait_for_lag("clerks", timeout_s=0.01)
    consumer.commit(offsets=[TopicPartition("bills", 0, 3)], asynchronous=False)
    broker.wait_for_lag("clerks")
    consumer.close()

    assert broker.admin.committed_offsets("clerks") == {("bills", 0): 3}
    broker.admin.reset_offsets("clerks", "earliest", "bills")
    assert broker.admin.lag("clerks") == {("bills", 0): 3}
    broker.admin.reset_offsets("clerks", 2)
    assert broker.admin.lag("clerks") == {("bills", 0): 1}
    broker.admin.delete_group("clerks")
    assert "clerks" not in broker.admin.groups()


def test_topics_are_created_altered_and_deleted(broker: Broker) -> None:
    admin = broker.admin
    admin.create_topic("parcels", 3, {"cleanup.policy": "compact"})
    assert "parcels" in admin.topics()
    assert admin.offsets("parcels") == {0: (0, 0), 1: (0, 0), 2: (0, 0)}
    admin.alter_configs("parcels", {"cleanup.policy": None, "max.message.bytes": 9000})
    configs = admin.configs("parcels")
    assert (configs["cleanup.policy"], configs["max.message.bytes"]) == ("delete", "9000")
    broker.delete_topic("parcels")
    assert "parcels" not in admin.topics()


def test_members_of_a_group_are_described(broker: Broker) -> None:
    broker.create_topic("letters", 2)
    consumer = consumer_of(broker, "postmen")
    assigned = threading.Event()
    consumer.subscribe(["letters"], on_assign=lambda *_: assigned.set())
    while not assigned.is_set():
        consumer.poll(0.01)
    group = broker.admin.describe_group("postmen")
    consumer.close()
    [member] = group.members
    assert (group.state, group.type) == ("STABLE", "classic")
    assert member.client_id == "rdkafka"
    assert sorted(member.assignment) == [("letters", 0), ("letters", 1)]


def test_what_the_broker_refuses_is_an_error_with_its_words(broker: Broker) -> None:
    with pytest.raises(RestError, match="There is no topic nothing") as refused:
        broker.produce("nothing", b"x")
    assert refused.value.error_code == 40403
    broker.create_topic("small", configs={"max.message.bytes": 100})
    with pytest.raises(RestError) as refused:
        broker.produce("small", bytes(1000))
    assert refused.value.error_code == 41302


def test_on_an_event_loop_the_same_methods_are_coroutines(broker: Broker) -> None:
    async def story() -> list[Record]:
        waiting = asyncio.create_task(broker.aio.wait_for_records("cups", 1))
        await broker.aio.admin.create_topic("cups")
        async with broker.aio.fail("Produce", "NOT_LEADER_OR_FOLLOWER", topic="cups") as fault:
            assert fault.matched == 0
            assert "cups" in [each["topic"] for each in broker.rest.items("test", "faults")]
        assert "cups" not in [each["topic"] for each in broker.rest.items("test", "faults")]
        await broker.aio.produce("cups", b"coffee")
        found: list[Record] = await waiting
        return found

    [record] = asyncio.run(story())
    assert record.value == b"coffee"


def test_a_producer_retries_while_its_requests_fail(broker: Broker) -> None:
    broker.create_topic("retried")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "retry.backoff.ms": 1})
    with broker.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=None, topic="retried") as fault:
        producer.produce("retried", b"coffee")
        while fault.matched < 2:
            producer.poll(0.001)
    assert producer.flush(20) == 0
    assert fault.matched >= 2
    assert [record.value for record in broker.records("retried")] == [b"coffee"]


def test_an_idempotent_producer_writes_once_when_the_response_is_lost(broker: Broker) -> None:
    broker.create_topic("once")
    settings = {"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True}
    producer = Producer(settings | {"reconnect.backoff.ms": 1, "retry.backoff.ms": 1})
    lost = broker.fail("Produce", disconnect="after", delay="1ms")
    producer.produce("once", b"coffee")
    assert producer.flush(20) == 0
    assert lost.matched == 1
    assert len(broker.records("once")) == 1


def test_a_reset_removes_everything_but_the_broker(broker: Broker) -> None:
    broker.create_topic("orders-of-today")
    with broker.fail("Fetch", delay=0.001, times=None):
        broker.reset()
        assert broker.admin.topics() == []


def test_the_clock_of_the_broker_goes_forward(broker: Broker) -> None:
    before = broker.clock.now_ms()
    broker.clock.advance("10m")
    assert broker.clock.now_ms() >= before + 600_000


def test_a_restored_snapshot_has_the_records_of_its_time(broker: Broker) -> None:
    broker.create_topic("stock", partitions=2)
    broker.produce("stock", "coffee", "tea")
    snapshot = broker.snapshot()
    before = broker.records("stock")
    broker.produce("stock", "water")
    broker.create_topic("stock-of-tomorrow")
    broker.restore(snapshot)
    assert broker.records("stock") == before
    assert "stock-of-tomorrow" not in broker.admin.topics()
