"""Three brokers over one PostgreSQL: no fault of a machine or a network costs a record."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.crash.cluster.broken import FAULTS, program
from tests.crash.cluster.faults import CLOCK, DISK, OF_ITS_OWN_SERVER
from tests.crash.cluster.run import tortured
from tests.fakes.moved_clock import needs_faketime
from tests.fakes.postgres import Postgres
from tests.fakes.small_disk import needs_a_mount

SHORT_S, LONG_FAULTS, CLUSTERS = 10.0, 40, 25
OBJECT_CLUSTERS = 5
CLIENT_CLUSTERS = 5
#: On a machine that is busy.
CLOCK_IS_RIGHT_S = 50
#: A fault is found in one of so many clusters.
CLUSTERS_WITH_A_FAULT, FAULTS_EACH = 4, 40


@pytest.mark.timeout(180)
def test_clients_lose_and_double_nothing(server: Postgres, tmp_path: Path) -> None:
    report = tortured(server, tmp_path / "cluster", seed=1, seconds=SHORT_S)
    assert report.findings == [], report.lines
    assert report.faults


@needs_a_mount
def test_the_disk_of_postgresql_can_be_full() -> None:
    assert DISK in OF_ITS_OWN_SERVER


@needs_faketime
@pytest.mark.usefixtures("server")
def test_the_clock_of_postgresql_can_be_moved() -> None:
    assert CLOCK in OF_ITS_OWN_SERVER
    server = Postgres(has_clock=True)
    try:
        server.start()
        for wrong_s in (0, 100, -100):
            server.move_clock(wrong_s)
            [(found,)] = server.execute("select extract(epoch from clock_timestamp())::float8")
            assert isinstance(found, float)
            assert abs(found - time.time() - wrong_s) < CLOCK_IS_RIGHT_S
    finally:
        server.remove()


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.usefixtures("server")
def test_clients_lose_and_double_nothing_for_an_hour(tmp_path: Path) -> None:
    first = int(os.environ.get("OTTLA_TEST_SEED", "") or int.from_bytes(os.urandom(3), "big"))
    for seed in range(first, first + CLUSTERS):
        report = tortured(None, tmp_path / str(seed), seed, LONG_FAULTS)
        assert report.findings == [], report.lines


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("server")
def test_clients_lose_and_double_nothing_of_old_records(tmp_path: Path) -> None:
    for seed in range(1, OBJECT_CLUSTERS + 1):
        folder = tmp_path / str(seed)
        report = tortured(None, folder, seed, LONG_FAULTS, has_objects=True)
        assert report.findings == [], report.lines


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("has_objects", [False, True])
def test_java_and_kafkajs_lose_and_double_nothing(has_objects: bool, tmp_path: Path) -> None:
    for seed in range(1, CLIENT_CLUSTERS + 1):
        folder = tmp_path / str(seed)
        report = tortured(
            None, folder, seed, LONG_FAULTS, has_objects=has_objects, has_clients=True
        )
        assert report.findings == [], report.lines


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_broker_with_a_fault_is_found(fault: str, tmp_path: Path) -> None:
    found: list[str] = []
    for seed in range(1, CLUSTERS_WITH_A_FAULT + 1):
        folder = tmp_path / str(seed)
        found = tortured(None, folder, seed, FAULTS_EACH, program=program(fault)).findings
        if found:
            break
    assert found, "the checker is blind"
