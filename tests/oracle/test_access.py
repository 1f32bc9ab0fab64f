"""Clients with few rights get the responses of Kafka's standard authorizer, in every version."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.broker_process import BrokerProcess
from tests.oracle.access import FOLDER, SETTINGS, access_scenarios, run_all
from tests.oracle.access_differences import ACCESS_DIFFERENCES
from tests.oracle.compare import Found, compare
from tests.oracle.conftest import NewStore
from tests.oracle.difference import unexpected, untrue
from tests.oracle.kafka import KafkaNotFound, find_jars, running_kafka
from tests.oracle.recording import Runs, recorded
from tests.oracle.test_recorded import SETTINGS as DEFAULTS


def _differences(runs: Runs) -> list[tuple[str, Found]]:
    known = recorded(access_scenarios(), FOLDER)
    assert set(known) == set(runs)
    return [
        (title, found)
        for (title, version), exchanges in runs.items()
        for found in compare(known[title, version], exchanges, version)
    ]


def test_clients_with_few_rights_get_the_responses_of_kafka(
    tmp_path: Path, new_store: NewStore
) -> None:
    options = [word for one in (*DEFAULTS, *SETTINGS) for word in ("--set", one)]
    with BrokerProcess(tmp_path, new_store(), (*options, "--log-requests", "off")) as broker:
        found = _differences(run_all(access_scenarios(), broker.address))
    assert [
        f"{title}: {one}" for title, one in found if unexpected(ACCESS_DIFFERENCES, title, [one])
    ] == []
    assert untrue(ACCESS_DIFFERENCES, found) == []


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_recording_with_acls_equals_the_responses_of_kafka(tmp_path: Path) -> None:
    try:
        jars = find_jars()
    except KafkaNotFound as why:
        pytest.skip(str(why))
    with running_kafka(jars, tmp_path, "\n".join(SETTINGS)) as address:
        found = _differences(run_all(access_scenarios(), address))
    assert [f"{title}: {one}" for title, one in found] == []
