"""On a listener without SASL; conversations of listeners with it are in conversations.py."""

from __future__ import annotations

from interfaces.kafka.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


@scenario("sasl_authenticate")
def without_sasl(run: ScenarioRun) -> None:
    run.send("a token", SaslAuthenticateRequest(auth_bytes=b"\0ann\0secret"))
    run.send("an empty token", SaslAuthenticateRequest(auth_bytes=b""))


@scenario("sasl_authenticate")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "sasl_authenticate", b"")
