"""Killed in the middle of acknowledging, again and again: what was acknowledged is there.

SIGKILL takes the process, not the page cache, so this holds under every flush policy; it says
nothing of a power cut.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic
from tests.e2e.librdkafka import read_values
from tests.e2e.load import Acknowledged, IdempotentLoad, RawLoad

ROUNDS = 4
RAW_PARTITIONS = (0, 1)
IDEMPOTENT_PARTITION = 2


@pytest.mark.parametrize("flush", ["commit", "interval", "os"])
def test_what_was_acknowledged_is_there_once_at_its_offset(flush: str, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path, arguments=["--flush", flush]) as broker:
        topic, acknowledged = new_topic(broker, 3), Acknowledged()
        loads: list[RawLoad] = []
        with IdempotentLoad(
            broker.address, topic, IDEMPOTENT_PARTITION, acknowledged
        ) as idempotent:
            for _ in range(ROUNDS):
                loads += killed_under_load(broker, topic, acknowledged)
                broker.start()
                with broker.connect() as client:
                    for load in loads:
                        load.check(client)
            acknowledged.wait_for_more(1)
            idempotent.stop()
        values = read_values(broker.bootstrap, topic, idempotent.produced, IDEMPOTENT_PARTITION)
        idempotent.check(values)


def killed_under_load(
    broker: BrokerProcess, topic: str, acknowledged: Acknowledged
) -> list[RawLoad]:
    loads = [RawLoad(broker.address, topic, place, acknowledged) for place in RAW_PARTITIONS]
    for load in loads:
        load.start()
    acknowledged.wait_for_more(random.randint(50, 500))
    broker.kill()
    for load in loads:
        load.join()
        assert not load.refusals
    return loads


def test_topics_and_producers_of_the_last_moment_are_there(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path) as broker:
        topics = [new_topic(broker) for _ in range(20)]
        with broker.connect() as client:
            given = [client.init_producer_id() for _ in range(20)]
        broker.kill()
        broker.start()
        with broker.connect() as client:
            assert all(client.end_offset(topic) == 0 for topic in topics)
            assert client.init_producer_id() not in given
