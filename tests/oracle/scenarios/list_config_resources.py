"""Topics are not listed: Kafka has those of every scenario before."""

from __future__ import annotations

from interfaces.kafka.wire.messages.list_config_resources import ListConfigResourcesRequest
from tests.fakes.config_requests import BROKER, GROUP, LOGGER, METRICS
from tests.oracle.configs import is_set, is_taken_back
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

SESSION = "consumer.session.timeout.ms"


def asked(*types: int) -> ListConfigResourcesRequest:
    return ListConfigResourcesRequest(resource_types=list(types))


@scenario("list_config_resources", first=1)
def types(tell: Teller) -> None:
    tell.ask("brokers", asked(BROKER))
    tell.ask("loggers", asked(LOGGER))
    tell.ask("brokers and loggers", asked(BROKER, LOGGER))
    tell.ask("one type twice", asked(BROKER, BROKER))
    tell.ask("metrics of clients", asked(METRICS))
    for unknown in (0, 1, 3, 64, -1):
        tell.ask(f"type {unknown}", asked(BROKER, unknown))


@scenario("list_config_resources", first=1)
def groups(tell: Teller) -> None:
    group = tell.group("g")
    is_set(tell, GROUP, group, SESSION, "50000")
    tell.ask("one is", asked(GROUP))
    tell.ask("and brokers", asked(BROKER, GROUP))
    is_taken_back(tell, GROUP, group, SESSION, "45000")
    tell.ask("not any more", asked(GROUP))


@scenario("list_config_resources", last=0)
def metrics_of_clients(tell: Teller) -> None:
    tell.ask("none", asked())


@scenario("list_config_resources")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "list_config_resources", b"")
