"""The recording against a real Kafka: is it still what Kafka says?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.compare import compare
from tests.oracle.kafka import KafkaNotFound, find_jars, running_kafka
from tests.oracle.record import tell_all
from tests.oracle.recording import recorded
from tests.oracle.scenario import all_scenarios


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_recording_is_what_kafka_says(tmp_path: Path) -> None:
    try:
        jars = find_jars()
    except KafkaNotFound as why:
        pytest.skip(str(why))
    scenarios = all_scenarios()
    with running_kafka(jars, tmp_path) as address:
        runs = tell_all(scenarios, address)
    known = recorded(scenarios)
    differences = [
        f"{title}: {found}"
        for (title, version), told in runs.items()
        for found in compare(known[title, version], told, version)
    ]
    assert differences == []
