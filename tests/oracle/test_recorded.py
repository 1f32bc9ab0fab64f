"""Ottla beside the recorded responses of Apache Kafka: every scenario in every version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from interfaces.kafka.requests.apis import APIS
from tests.e2e.broker_process import Address, BrokerProcess
from tests.oracle.compare import Found, compare
from tests.oracle.conftest import NewStore
from tests.oracle.difference import Difference, unexpected, untrue
from tests.oracle.differences import DIFFERENCES
from tests.oracle.recording import Runs, recorded
from tests.oracle.scenario import Scenario, all_scenarios

#: Scenarios of APIs that are not served yet are recorded only.
SCENARIOS = [one for one in all_scenarios() if one.api in {row.name for row in APIS}]
#: By title and broker.
DIFFERENT: dict[tuple[str, Address], list[Found]] = {}


@cache
def recording() -> Runs:
    return recorded(SCENARIOS)


#: Kafka has the topics of committed offsets and transactions; here they are off by default.
SETTINGS = (
    "node.id=1",
    "offsets.topic=on",
    "offsets.topic.num.partitions=1",
    "transaction.state.log.num.partitions=1",
)


@pytest.fixture(scope="session")
def ottla(new_store: NewStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    folder = tmp_path_factory.mktemp("oracle")
    options = [word for one in SETTINGS for word in ("--set", one)]
    with BrokerProcess(folder, new_store(), (*options, "--log-requests", "off")) as broker:
        yield broker.address


def differences(scenario: Scenario, ottla: Address) -> list[Found]:
    key = scenario.title, ottla
    if key not in DIFFERENT:
        DIFFERENT[key] = [
            found
            for version in scenario.versions
            for found in compare(
                recording().get((scenario.title, version), []),
                scenario.run(ottla, version),
                version,
            )
        ]
    return DIFFERENT[key]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.title)
def test_responses_equal_those_of_kafka_except_for_the_listed_differences(
    scenario: Scenario, ottla: Address, of_engine: Sequence[Difference]
) -> None:
    table = [*DIFFERENCES, *of_engine]
    found = unexpected(table, scenario.title, differences(scenario, ottla))
    assert [str(one) for one in found] == []


@pytest.mark.parametrize("api", sorted({row.api for row in DIFFERENCES}))
def test_every_listed_difference_is_real(api: str, ottla: Address) -> None:
    found = [
        (scenario.title, one)
        for scenario in SCENARIOS
        if scenario.api == api
        for one in differences(scenario, ottla)
    ]
    assert untrue([row for row in DIFFERENCES if row.api == api], found) == []


@pytest.mark.parametrize("api", APIS, ids=lambda one: one.name)
def test_every_served_version_has_scenarios(api: object) -> None:
    row = next(one for one in APIS if one is api)
    tested = {v for one in SCENARIOS if one.api == row.name for v in one.versions}
    assert tested == {v for v in range(row.max_version + 1) if row.serves(v)}


def test_every_recorded_scenario_exists() -> None:
    tested = {(one.title, version) for one in SCENARIOS for version in one.versions}
    assert set(recording()) == tested
