"""No quota was ever set."""

from __future__ import annotations

from interfaces.kafka.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

EXACT, DEFAULT, SPECIFIED = 0, 1, 2
USER, CLIENT, IP = "user", "client-id", "ip"


def part(kind: str, match_type: int = SPECIFIED, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type=kind, match_type=match_type, match=match)


def request(*components: ComponentData, strict: bool = False) -> DescribeClientQuotasRequest:
    return DescribeClientQuotasRequest(components=list(components), strict=strict)


@scenario("describe_client_quotas")
def filters(run: ScenarioRun) -> None:
    run.send("all of them", request())
    run.send("all of them, strictly", request(strict=True))
    for kind in (USER, CLIENT, IP):
        run.send(f"any {kind}", request(part(kind)))
        run.send(f"the default {kind}", request(part(kind, DEFAULT)))
        run.send(f"one {kind}", request(part(kind, EXACT, "127.0.0.1")))
    run.send("user and client", request(part(USER, EXACT, "a"), part(CLIENT), strict=True))


@scenario("describe_client_quotas")
def refusals(run: ScenarioRun) -> None:
    run.send("an empty type", request(part("")))
    run.send("an unknown type", request(part("planet")))
    run.send("a type twice", request(part(USER), part(USER, EXACT, "a")))
    run.send("an unknown type twice", request(part("planet"), part("planet")))
    run.send("an unknown match", request(part(USER, 3)))
    run.send("a negative match", request(part(USER, -1)))
    run.send("one without a name", request(part(USER, EXACT)))
    run.send("the default with a name", request(part(USER, DEFAULT, "a")))
    run.send("any with a name", request(part(USER, SPECIFIED, "a")))
    run.send("ip and user", request(part(IP), part(USER)))
    run.send("ip and client", request(part(IP), part(CLIENT)))
    run.send("two mistakes", request(part(USER, 3), part("planet")))


@scenario("describe_client_quotas")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_client_quotas", b"")
