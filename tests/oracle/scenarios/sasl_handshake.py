"""On a listener without SASL; conversations of listeners with it are in conversations.py."""

from __future__ import annotations

from interfaces.kafka.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


@scenario("sasl_handshake")
def without_sasl(run: ScenarioRun) -> None:
    run.send("a mechanism", SaslHandshakeRequest(mechanism="PLAIN"))
    run.send("an unknown mechanism", SaslHandshakeRequest(mechanism="NONE"))
    run.send("an empty mechanism", SaslHandshakeRequest(mechanism=""))


@scenario("sasl_handshake")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "sasl_handshake", b"")
