"""librdkafka's idempotent producer against `ottla serve`, which is killed under load again and
again on one port. Each message is there once, in order, at the reported offset.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic
from tests.e2e.librdkafka import read_values
from tests.e2e.load import Acknowledged, IdempotentLoad

KILLS = 2


@pytest.mark.parametrize(
    "flush", ["commit", *(pytest.param(one, marks=pytest.mark.long) for one in ("interval", "os"))]
)
def test_an_idempotent_librdkafka_producer_survives_kills(flush: str, tmp_path: Path) -> None:
    chance = random.Random(flush)
    with BrokerProcess(tmp_path, arguments=["--flush", flush]) as broker:
        topic, acknowledged = new_topic(broker), Acknowledged()
        with IdempotentLoad(broker.address, topic, 0, acknowledged) as load:
            for _ in range(KILLS):
                acknowledged.wait_for_more(chance.randint(50, 500))
                broker.kill()
                broker.start()
            acknowledged.wait_for_more(1)
            load.stop()
        load.check(read_values(broker.bootstrap, topic, load.produced))
