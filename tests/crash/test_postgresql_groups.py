"""Groups of both protocols over PostgreSQL: brokers are killed, the server restarts, connections
end, and members come and go. No committed offset goes back, and each record is read.
"""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest

from tests.crash.cluster.load import wait_for
from tests.crash.database import Database
from tests.crash.group_readers import (
    GroupReader,
    OffsetsWatcher,
    all_replaced,
    commit_the_start,
)
from tests.crash.test_postgresql import kill
from tests.e2e.broker_process import PATIENCE_S, BrokerProcess, environment
from tests.e2e.conftest import new_topic
from tests.e2e.groups.numbers import Numbers
from tests.e2e.groups.settings import ARGUMENTS

GROUP, PARTITIONS = "readers", 4
SHORT, LONG = 4, 60


@pytest.mark.parametrize(
    "faults", [SHORT, pytest.param(LONG, marks=[pytest.mark.long, pytest.mark.timeout(900)])]
)
@pytest.mark.parametrize("protocol", ["classic", pytest.param("consumer", marks=pytest.mark.long)])
def test_committed_offsets_never_go_back(
    protocol: str, faults: int, database: Database, tmp_path: Path
) -> None:
    chance = random.Random(faults)
    variables = environment() | {"OTTLA_STORAGE": database.url}
    with BrokerProcess(tmp_path, "default", ARGUMENTS, variables=variables) as broker:
        topic = new_topic(broker, PARTITIONS)
        commit_the_start(broker.bootstrap, GROUP, topic, PARTITIONS)
        kinds = [partial(kill, broker), database.lose, database.restart, database.cut]
        readers = [GroupReader(broker.bootstrap, GROUP, protocol, topic) for _ in range(2)]
        numbers = Numbers(broker.bootstrap, topic, partitions=PARTITIONS)
        everyone = list(readers)
        with OffsetsWatcher(broker.address, GROUP, everyone) as watcher:
            for one in readers:
                one.start()
            with numbers.flowing():
                for number in range(faults):
                    readers[number % 2].commits.wait_for_more(chance.randint(1, 10))
                    kinds[number % len(kinds)]()
                    leaving = readers[number % 2]
                    leaving.stop()
                    readers[number % 2] = GroupReader(broker.bootstrap, GROUP, protocol, topic)
                    everyone.append(readers[number % 2])
                    readers[number % 2].start()
            # Records whose acknowledgement was lost are there twice.
            with broker.connect() as client:
                ends = {(topic, at): client.end_offset(topic, at) for at in range(PARTITIONS)}
            is_at_the_end = wait_for(lambda: watcher.wrong or watcher.newest == ends, PATIENCE_S)
            for one in readers:
                one.stop()
        replaced = all_replaced(everyone)
        assert watcher.wrong == [], replaced
        assert is_at_the_end, (watcher.newest, ends, replaced)
        assert watcher.polls > 10 * faults
        assert [one.resets for one in everyone if one.resets] == []
        assert [one.failure for one in everyone if one.failure] == []
        read = {value for one in everyone for value in one.values}
        assert read == set(numbers.all()), replaced
        assert broker.terminate() == 0
    assert "storage_failed" not in broker.log(1 << 20)
