"""Compares the recording with a running Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.compare import compare
from tests.oracle.kafka import KafkaNotFound, find_jars, running_kafka
from tests.oracle.record import run_all
from tests.oracle.recording import recorded
from tests.oracle.scenario import all_scenarios


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_recording_equals_the_responses_of_kafka(tmp_path: Path) -> None:
    try:
        jars = find_jars()
    except KafkaNotFound as why:
        pytest.skip(str(why))
    scenarios = all_scenarios()
    with running_kafka(jars, tmp_path) as address:
        runs = run_all(scenarios, address)
    known = recorded(scenarios)
    differences = [
        f"{title}: {found}"
        for (title, version), exchanges in runs.items()
        for found in compare(known[title, version], exchanges, version)
    ]
    assert differences == []
