"""Three brokers over one PostgreSQL: no fault of a machine or a network costs a record."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.crash.cluster import history
from tests.crash.cluster.broken import FAULTS, Outdated, kind_of
from tests.crash.cluster.bucket import OF_THE_BUCKET
from tests.crash.cluster.faults import (
    KILL,
    OF_BROKERS,
    OF_ITS_OWN_SERVER,
    OF_THE_SERVER,
    RESTART,
    STOP_IN_A_COMMIT,
)
from tests.crash.cluster.report import ABORTED, STOPS, Report
from tests.crash.cluster.run import Torture
from tests.fakes.moved_clock import library
from tests.fakes.postgres import Postgres
from tests.fakes.small_disk import needs_a_mount

#: Of a seed with faults of several kinds, which take about ten seconds.
SHORT_SEED, SHORT = 268, {KILL: 2, RESTART: 1, STOP_IN_A_COMMIT: 1}
LONG_FAULTS, CLUSTERS = 40, 25
OBJECT_CLUSTERS = 5
CLIENT_CLUSTERS = 5
#: On a machine that is busy.
CLOCK_IS_RIGHT_S = 50
#: Of kinds of faults, and events.
OF_AN_HOUR = {*OF_BROKERS, *OF_THE_SERVER, *OF_ITS_OWN_SERVER, *STOPS.values(), ABORTED}
#: A fault is found in one of so many clusters.
CLUSTERS_WITH_A_FAULT, FAULTS_EACH = 4, 40

needs_faketime = pytest.mark.skipif(library() is None, reason="no libfaketime (Debian: faketime)")


def check_run(report: Report) -> None:
    assert report.findings == [], report.lines
    assert report.idle == [], report.lines
    assert report.outdated == (), report.lines


def shown_by(report: Report, fault: str) -> bool:
    """Raises Outdated: the fault itself fails, and shows nothing."""
    _, kinds = FAULTS[fault]
    if any(kind_of(one) in kinds for one in report.findings):
        return True
    if report.outdated:
        raise Outdated(f"{fault} has to follow the code that it patches: {report.outdated[:3]}")
    return False


@pytest.mark.timeout(180)
def test_clients_lose_and_double_nothing(server: Postgres, tmp_path: Path) -> None:
    report = Torture(server, tmp_path / "cluster", SHORT_SEED).run(sum(SHORT.values()))
    check_run(report)
    assert report.kinds == SHORT


@needs_faketime
@pytest.mark.usefixtures("server")
def test_the_clock_of_postgresql_can_be_moved() -> None:
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
@needs_a_mount
@needs_faketime
@pytest.mark.usefixtures("server")
def test_clients_lose_and_double_nothing_for_an_hour(tmp_path: Path) -> None:
    first = int(os.environ.get("OTTLA_TEST_SEED", "") or int.from_bytes(os.urandom(3), "big"))
    happened: Counter[str] = Counter()
    for seed in range(first, first + CLUSTERS):
        report = Torture(None, tmp_path / str(seed), seed).run(LONG_FAULTS)
        check_run(report)
        happened.update(report.kinds)
        happened.update(report.events)
    assert {one for one in OF_AN_HOUR if not happened[one]} == set()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("server")
def test_clients_lose_and_double_nothing_of_old_records(tmp_path: Path) -> None:
    happened: Counter[str] = Counter()
    for seed in range(1, OBJECT_CLUSTERS + 1):
        report = Torture(None, tmp_path / str(seed), seed, has_objects=True).run(LONG_FAULTS)
        check_run(report)
        happened.update(report.kinds)
    assert {one for one in OF_THE_BUCKET if not happened[one]} == set()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("has_objects", [False, True])
def test_java_and_kafkajs_lose_and_double_nothing(has_objects: bool, tmp_path: Path) -> None:
    for seed in range(1, CLIENT_CLUSTERS + 1):
        folder = tmp_path / str(seed)
        report = Torture(None, folder, seed, has_objects=has_objects, has_clients=True).run(
            LONG_FAULTS
        )
        check_run(report)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_broker_with_a_fault_is_found(fault: str, tmp_path: Path) -> None:
    others: Counter[str] = Counter()
    for seed in range(1, CLUSTERS_WITH_A_FAULT + 1):
        report = Torture(None, tmp_path / str(seed), seed, fault=fault).run(FAULTS_EACH)
        if shown_by(report, fault):
            return
        others.update(map(kind_of, report.findings))
    pytest.fail(f"the checker is blind: it has found {dict(others)}")


def test_a_fault_is_shown_by_what_it_does() -> None:
    def found(*findings: str) -> Report:
        return Report(1, list(findings), Counter(), [])

    lost = f"{history.LOST}: 0/7: i:3, and then None"
    assert shown_by(found("i: partition 0 is stuck", lost), "ignores_the_fence")
    assert not shown_by(found(lost), "takes_over_in_the_same_epoch")
    assert not shown_by(found("i: partition 0 is stuck"), "ignores_the_fence")
    assert not shown_by(found(), "ignores_the_fence")


def test_an_error_of_a_fault_is_no_finding() -> None:
    line = "TypeError: late() takes 2 positional arguments but 3 were given"
    report = Report(1, [f"log of broker 1: {line}"], Counter(), [], outdated=(line,))
    with pytest.raises(Outdated, match="ignores_the_fence has to follow"):
        shown_by(report, "ignores_the_fence")
    lost = f"{history.LOST}: 0/7: i:3, and then None"
    assert shown_by(report._replace(findings=[*report.findings, lost]), "ignores_the_fence")
