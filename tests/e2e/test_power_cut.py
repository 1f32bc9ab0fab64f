"""A consumer that has read records which a power cut takes notices it (KIP-320)."""

from __future__ import annotations

from tests.e2e.conftest import StartBroker, new_topic
from tests.e2e.librdkafka import (
    assigned_consumer,
    deliver,
    next_error_of_log,
    next_message,
    producer,
)
from tests.fakes.machine import restart_machine


def test_a_consumer_notices_that_a_power_cut_has_cut_the_log(start_broker: StartBroker) -> None:
    broker = start_broker("--flush", "interval", "--set", "flush.interval.ms=3600000")
    topic = new_topic(broker)
    deliver(producer(broker.bootstrap), topic, b"0", b"1")
    assert broker.terminate() == 0  # a clean stop, so all data is on the disk
    broker.start()
    deliver(producer(broker.bootstrap), topic, b"lost", b"lost too")
    with assigned_consumer(broker.bootstrap, topic) as consumer:
        read = [next_message(consumer).value() for _ in range(4)]
        assert read == [b"0", b"1", b"lost", b"lost too"]
        broker.kill()
        restart_machine(broker.folder / "data")
        broker.start()
        deliver(producer(broker.bootstrap), topic, b"2", b"3", b"4")
        error = next_error_of_log(consumer)
    assert "log truncation detected at offset 4 (leader epoch 0)" in error.str()
    assert "end offset is 2" in error.str()
