"""One of three brokers over one PostgreSQL beside the recorded responses of Apache Kafka.

It leads all partitions; the other two take part in every change of topics, configs and leaders.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.postgres_server import running_postgres
from tests.e2e.broker_process import Address
from tests.e2e.cluster.brokers import Brokers, new_schema, store_of
from tests.oracle.difference import unexpected, untrue
from tests.oracle.differences import DIFFERENCES
from tests.oracle.first_leads import PROGRAM
from tests.oracle.postgresql_differences import POSTGRESQL
from tests.oracle.scenario import Scenario
from tests.oracle.several_differences import SEVERAL
from tests.oracle.test_recorded import SCENARIOS, SETTINGS, differences

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    stores = dict.fromkeys((1, 2, 3), store_of(running_postgres().folder, new_schema()))
    settings = [word for one in SETTINGS if "node.id" not in one for word in ("--set", one)]
    folder = tmp_path_factory.mktemp("three")
    brokers = Brokers(folder, stores, settings=settings, program=PROGRAM)
    try:
        for broker in brokers.all.values():
            broker.start()  # the first one while it is alone, with the internal topics
        brokers.wait_for_nodes()
        yield brokers[1].address
        brokers.terminate()
    finally:
        brokers.kill()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.title)
def test_one_of_three_brokers_responds_as_kafka(scenario: Scenario, first: Address) -> None:
    found = differences(scenario, first)
    table = [*DIFFERENCES, *POSTGRESQL, *SEVERAL]
    assert [str(one) for one in unexpected(table, scenario.title, found)] == []


def test_every_listed_difference_of_several_brokers_is_real(first: Address) -> None:
    found = [
        (scenario.title, one) for scenario in SCENARIOS for one in differences(scenario, first)
    ]
    assert untrue([*POSTGRESQL, *SEVERAL], found) == []
