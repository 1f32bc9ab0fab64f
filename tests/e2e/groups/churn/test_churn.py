"""Members of a three-stage chain join, leave and are killed all the time, and nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.broker_process import Address
from tests.e2e.conftest import Broker
from tests.e2e.groups.churn.chain import ASSIGNORS, PROTOCOLS
from tests.e2e.groups.churn.run import churn

#: Several are in tests/crash/cluster.
pytestmark = pytest.mark.parametrize("group_broker", ["lmdb"], indirect=True)

SEED = int(os.environ.get("OTTLA_TEST_SEED", "66"))


def judge(broker: Broker, protocol: str, seconds: float, most: int, folder: Path) -> None:
    host, _, port = broker.bootstrap.rpartition(":")
    outcome = churn(Address(host, int(port)), protocol, SEED, seconds, most, folder)
    print("\n".join(outcome.lines()))
    assert outcome.wrong == []
    assert outcome.polls > 100
    assert outcome.stable_views > 10
    assert min(outcome.generations) > 1
    assert outcome.happened.total() > 3 * seconds


@pytest.mark.parametrize("protocol", ASSIGNORS)
def test_no_record_is_lost_while_members_come_and_go(
    protocol: str, broker: Broker, tmp_path: Path
) -> None:
    judge(broker, protocol, 5, 6, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_record_is_lost_with_twenty_members_per_stage(
    protocol: str, broker: Broker, tmp_path: Path
) -> None:
    judge(broker, protocol, 120, 20, tmp_path)
