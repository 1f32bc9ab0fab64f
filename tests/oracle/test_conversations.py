"""Good and bad SASL conversations get the responses of Kafka, byte by byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.broker_process import Address, BrokerProcess
from tests.oracle.conftest import NewStore
from tests.oracle.conversation import Steps
from tests.oracle.conversation_differences import CONVERSATION_DIFFERENCES
from tests.oracle.conversations import Listeners, options, recorded, run_all, running
from tests.oracle.kafka import KafkaNotFound, find_jars


def _changed(known: dict[str, Steps], found: dict[str, Steps]) -> list[str]:
    assert list(known) == list(found)
    return [name for name in known if known[name] != found[name]]


def test_conversations_get_the_responses_of_kafka(tmp_path: Path, new_store: NewStore) -> None:
    with BrokerProcess(tmp_path, new_store(), options()) as broker:
        plain, login = (Address(one["host"], one["port"]) for one in broker.ready["listeners"])
        found = run_all(Listeners(plain, login))
        assert broker.terminate() == 0, broker.log()
    changed = _changed(recorded(), found)
    known = {
        row.pattern: [name for name in changed if re.fullmatch(row.pattern, name)]
        for row in CONVERSATION_DIFFERENCES
    }
    assert set(changed) == {name for names in known.values() for name in names}
    assert all(known.values()), "a difference that is none"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_recorded_conversations_equal_those_of_kafka(tmp_path: Path) -> None:
    try:
        jars = find_jars()
    except KafkaNotFound as why:
        pytest.skip(str(why))
    with running(jars, tmp_path) as listeners:
        assert _changed(recorded(), run_all(listeners)) == []
