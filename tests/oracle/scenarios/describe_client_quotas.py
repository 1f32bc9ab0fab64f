"""No quota was ever set."""

from __future__ import annotations

from interfaces.kafka.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

EXACT, DEFAULT, SPECIFIED = 0, 1, 2
USER, CLIENT, IP = "user", "client-id", "ip"


def part(kind: str, match_type: int = SPECIFIED, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type=kind, match_type=match_type, match=match)


def asked(*components: ComponentData, strict: bool = False) -> DescribeClientQuotasRequest:
    return DescribeClientQuotasRequest(components=list(components), strict=strict)


@scenario("describe_client_quotas")
def filters(tell: Teller) -> None:
    tell.ask("all of them", asked())
    tell.ask("all of them, strictly", asked(strict=True))
    for kind in (USER, CLIENT, IP):
        tell.ask(f"any {kind}", asked(part(kind)))
        tell.ask(f"the default {kind}", asked(part(kind, DEFAULT)))
        tell.ask(f"one {kind}", asked(part(kind, EXACT, "127.0.0.1")))
    tell.ask("user and client", asked(part(USER, EXACT, "a"), part(CLIENT), strict=True))


@scenario("describe_client_quotas")
def refusals(tell: Teller) -> None:
    tell.ask("an empty type", asked(part("")))
    tell.ask("an unknown type", asked(part("planet")))
    tell.ask("a type twice", asked(part(USER), part(USER, EXACT, "a")))
    tell.ask("an unknown type twice", asked(part("planet"), part("planet")))
    tell.ask("an unknown match", asked(part(USER, 3)))
    tell.ask("a negative match", asked(part(USER, -1)))
    tell.ask("one without a name", asked(part(USER, EXACT)))
    tell.ask("the default with a name", asked(part(USER, DEFAULT, "a")))
    tell.ask("any with a name", asked(part(USER, SPECIFIED, "a")))
    tell.ask("ip and user", asked(part(IP), part(USER)))
    tell.ask("ip and client", asked(part(IP), part(CLIENT)))
    tell.ask("two mistakes", asked(part(USER, 3), part("planet")))


@scenario("describe_client_quotas")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "describe_client_quotas", b"")
