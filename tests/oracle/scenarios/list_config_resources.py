"""Topics are not listed: Kafka has those of every scenario before."""

from __future__ import annotations

from interfaces.kafka.wire.messages.list_config_resources import ListConfigResourcesRequest
from tests.fakes.config_requests import BROKER, GROUP, LOGGER, METRICS
from tests.oracle.configs import reset_config, set_config
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

SESSION = "consumer.session.timeout.ms"


def request(*types: int) -> ListConfigResourcesRequest:
    return ListConfigResourcesRequest(resource_types=list(types))


@scenario("list_config_resources", first=1)
def types(run: ScenarioRun) -> None:
    run.send("brokers", request(BROKER))
    run.send("loggers", request(LOGGER))
    run.send("brokers and loggers", request(BROKER, LOGGER))
    run.send("one type twice", request(BROKER, BROKER))
    run.send("metrics of clients", request(METRICS))
    for unknown in (0, 1, 3, 64, -1):
        run.send(f"type {unknown}", request(BROKER, unknown))


@scenario("list_config_resources", first=1)
def groups(run: ScenarioRun) -> None:
    group = run.group("g")
    set_config(run, GROUP, group, SESSION, "50000")
    run.send("a group with a config", request(GROUP))
    run.send("groups and brokers", request(BROKER, GROUP))
    reset_config(run, GROUP, group, SESSION, "45000")
    run.send("no longer set", request(GROUP))


@scenario("list_config_resources", last=0)
def metrics_of_clients(run: ScenarioRun) -> None:
    run.send("none", request())


@scenario("list_config_resources")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "list_config_resources", b"")
