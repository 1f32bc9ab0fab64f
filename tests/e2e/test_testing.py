"""A broker with --testing: what clients do when a test makes the broker misbehave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicCollection

from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import EXTERNAL, StartBroker, new_topic
from tests.e2e.librdkafka import PATIENCE_S, admin, deliver, next_message, producer, read_values

#: Clients that do not wait before they try again.
IMPATIENT = {
    "retry_backoff_ms": 10,
    "reconnect_backoff_ms": 10,
    "topic_metadata_refresh_fast_interval_ms": 10,
}
ARGUMENTS = ["--testing", "--admin", "127.0.0.1:0"]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    if EXTERNAL:
        pytest.skip("starts a broker of its own; OTTLA_TEST_BOOTSTRAP names another")
    with BrokerProcess(tmp_path_factory.mktemp("testing"), "memory", ARGUMENTS) as broker:
        yield broker
        assert broker.terminate() == 0, broker.log()
        assert "request_failed" not in broker.log(1 << 30)


@pytest.fixture
def control(broker: BrokerProcess) -> Iterator[AdminClient]:
    client = AdminClient(broker)
    yield client
    assert client.delete("/test/faults").status == 204


def add_fault(control: AdminClient, **fault: Any) -> None:
    response = control.post("/test/faults", fault)
    assert response.status == 201, response


def matched(control: AdminClient) -> list[int]:
    return [fault["matched"] for fault in control.get("/test/faults").json["data"]]


def consumer_of(broker: BrokerProcess, group: str, topic: str, **settings: Any) -> Consumer:
    defaults = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "heartbeat.interval.ms": 100,
    }
    consumer = Consumer(defaults | settings)
    consumer.subscribe([topic])
    return consumer


def test_a_producer_retries_after_not_leader_or_follower_and_writes_once(
    broker: BrokerProcess, control: AdminClient
) -> None:
    topic = new_topic(broker)
    add_fault(control, api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=2, topic=topic)
    assert not deliver(
        producer(broker.bootstrap, **IMPATIENT),
        topic,
        b"a",
    ).errors
    assert matched(control) == [2]
    deliver(producer(broker.bootstrap), topic, b"b")
    assert read_values(broker.bootstrap, topic, 2) == [b"a", b"b"]


def test_an_idempotent_producer_writes_once_when_a_response_is_lost(
    broker: BrokerProcess, control: AdminClient
) -> None:
    topic = new_topic(broker)
    add_fault(control, api="Produce", disconnect="after", topic=topic)
    idempotent = producer(broker.bootstrap, enable_idempotence=True, **IMPATIENT)
    assert not deliver(idempotent, topic, b"a").errors
    assert matched(control) == [1]
    deliver(idempotent, topic, b"b")
    assert read_values(broker.bootstrap, topic, 2) == [b"a", b"b"]


def test_a_consumer_survives_a_moved_coordinator(
    broker: BrokerProcess, control: AdminClient
) -> None:
    topic = new_topic(broker)
    sender = producer(broker.bootstrap)
    deliver(sender, topic, b"a")
    consumer = consumer_of(broker, "movers", topic)
    try:
        message = next_message(consumer)
        moved = control.post("/test/coordinator", {"group": "movers"})
        assert moved.status == 201, moved
        [committed] = consumer.commit(message, asynchronous=False)
        assert committed.offset == 1
        assert matched(control) != [0]
        deliver(sender, topic, b"b")
        assert next_message(consumer).value() == b"b"
        [committed] = consumer.commit(asynchronous=False)
        assert committed.offset == 2
    finally:
        consumer.close()


def test_a_consumer_starts_again_after_an_offset_out_of_range(
    broker: BrokerProcess, control: AdminClient
) -> None:
    topic = new_topic(broker)
    deliver(producer(broker.bootstrap), topic, b"a")
    consumer = consumer_of(broker, "resetters", topic)
    try:
        assert next_message(consumer).value() == b"a"
        add_fault(control, api="Fetch", error="OFFSET_OUT_OF_RANGE", topic=topic)
        assert next_message(consumer).value() == b"a"
    finally:
        consumer.close()


def test_the_log_warns_of_testing(broker: BrokerProcess) -> None:
    line = next(one for one in broker.log(1 << 20).splitlines() if '"testing"' in one)
    assert '"startup_warning"' in line


def advance(control: AdminClient, by_ms: int) -> dict[str, int]:
    response = control.post("/test/clock", {"advance_ms": by_ms})
    assert response.status == 200, response
    clock: dict[str, int] = response.json
    return clock


def members(control: AdminClient, group: str) -> int:
    count: int = control.get(f"/groups/{group}").json["members_count"]
    return count


def test_a_dead_member_expires_when_the_clock_is_advanced(
    broker: BrokerProcess, control: AdminClient
) -> None:
    """Its requests are refused before they are handled: it looks dead to the broker."""
    topic = new_topic(broker)
    deliver(producer(broker.bootstrap), topic, b"a")
    dead = consumer_of(broker, "mortals", topic, **{"client.id": "dead"})
    try:
        assert next_message(dead).value() == b"a"
        before = control.get("/test/clock").json
        assert members(control, "mortals") == 1
        add_fault(control, api="*", disconnect="before", client_id="dead", times=None)
        advance(control, 30_000)
        assert members(control, "mortals") == 1, "the session timeout is 45 s"
        after = advance(control, 30_000)
        assert members(control, "mortals") == 0
        assert after["advanced_ms"] == before["advanced_ms"] + 60_000
        assert after["now_ms"] >= before["now_ms"] + 60_000
    finally:
        control.delete("/test/faults")
        dead.close()


def start_offset(broker: BrokerProcess, topic: str) -> int:
    with broker.connect() as client:
        return client.list_offset(topic, 0, -2)[1]


def test_records_expire_when_the_clock_is_advanced(
    broker: BrokerProcess, control: AdminClient
) -> None:
    topic = new_topic(broker, message__timestamp__type="LogAppendTime")
    deliver(producer(broker.bootstrap), topic, b"old", partition=0)
    advance(control, 6 * 86_400_000)
    deliver(producer(broker.bootstrap), topic, b"new", partition=0)
    assert start_offset(broker, topic) == 0
    advance(control, 2 * 86_400_000)
    assert start_offset(broker, topic) == 1


def test_committed_offsets_expire_when_the_clock_is_advanced(
    broker: BrokerProcess, control: AdminClient
) -> None:
    topic = new_topic(broker)
    response = control.post("/groups/forgotten/offsets", {"to": "latest", "topic": topic})
    assert response.status == 200, response
    advance(control, 8 * 86_400_000)
    assert control.get("/groups/forgotten").status == 404


def test_the_history_has_a_sample_of_every_ten_seconds(
    broker: BrokerProcess, control: AdminClient
) -> None:
    topic = new_topic(broker)
    sender = producer(broker.bootstrap)
    deliver(sender, topic, b"a", b"b")
    control.post("/groups/late/offsets", {"to": "earliest", "topic": topic})
    advance(control, 10_000)
    newest = control.get("/history").json["data"][-1]
    assert newest["requests_per_sec"] > 0 and newest["connections"] >= 1
    assert newest["produce_p99_us"] > 0 and newest["commit_p99_us"] > 0
    assert control.get(f"/topics/{topic}/history").json["data"][-1]["messages_in_per_sec"] > 0
    assert control.get("/groups/late/history").json["data"][-1]["lag"] == 2


def test_clients_stay_connected_when_everything_is_deleted(
    broker: BrokerProcess, control: AdminClient
) -> None:
    """The consumer joins its group again, and reads the new topic from its start."""
    topic = new_topic(broker)
    sender = producer(broker.bootstrap, enable_idempotence=True)
    deliver(sender, topic, b"a")
    fast = {"topic.metadata.refresh.interval.ms": 100, "reconnect.backoff.ms": 10}
    consumer = consumer_of(broker, "stayers", topic, **fast)
    try:
        assert next_message(consumer).value() == b"a"
        consumer.commit(asynchronous=False)
        reset = control.post("/test/reset")
        assert reset.status == 200 and reset.json["groups"] >= 1, reset
        assert control.get("/topics").json["data"] == []
        assert control.post("/topics", {"name": topic}).status == 201
        deliver(producer(broker.bootstrap), topic, b"b")
        values = []
        while b"b" not in values:
            message = consumer.poll(10)
            assert message is not None, "the consumer reads nothing"
            if message.error() is None:  # the topic is unknown for a while
                values.append(message.value())
        assert values == [b"b"]
    finally:
        consumer.close()


def test_a_snapshot_of_the_whole_broker_is_restored(own_broker: StartBroker) -> None:
    """A producer that stays connects again, and finds what was there; streams over HTTP end."""
    broker = own_broker(*ARGUMENTS)
    control = AdminClient(broker)
    topic = new_topic(broker, 2)
    sender = producer(broker.bootstrap, **IMPATIENT)
    deliver(sender, topic, b"a", partition=1)
    offsets = control.post("/groups/readers/offsets", {"to": "latest", "topic": topic})
    assert offsets.status == 200, offsets
    identity = topic_id(broker, topic)
    taken = control.post("/test/snapshots")
    assert taken.status == 201, taken
    snapshot = f"/test/snapshots/{taken.json['snapshot_id']}"

    deliver(sender, topic, b"b", partition=1)
    new_topic(broker)
    config = "/brokers/1/configs/message.max.bytes"
    assert control.request("PUT", config, {"value": "5000"}).status == 204
    assert control.delete("/groups/readers").status == 204
    with closing(HTTPConnection(*broker.admin, timeout=30)) as connection:
        connection.request("GET", f"/topics/{topic}/records:tail")
        tail = connection.getresponse()
        restored = control.post(f"{snapshot}/restore")
        assert restored.status == 200, restored
        while tail.readline():
            pass

    assert [one["topic_name"] for one in control.get("/topics").json["data"]] == [topic]
    assert control.get(config).json["value"] != "5000"
    assert control.get("/groups/readers/lag-summary").json["total_lag"] == 0
    assert topic_id(broker, topic) == identity
    deliver(sender, topic, b"c", partition=1)
    assert read_values(broker.bootstrap, topic, 2, partition=1) == [b"a", b"c"]
    assert control.delete(snapshot).status == 204
    assert control.post(f"{snapshot}/restore").status == 404
    assert broker.terminate() == 0, broker.log()
    assert "request_failed" not in broker.log(1 << 30)


def topic_id(broker: BrokerProcess, topic: str) -> str:
    client = admin(broker.bootstrap)
    described = client.describe_topics(TopicCollection([topic]))
    return str(described[topic].result(PATIENCE_S).topic_id)
