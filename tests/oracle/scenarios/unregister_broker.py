"""Not the broker itself: Kafka would lose its only one."""

from __future__ import annotations

from interfaces.kafka.wire.messages.unregister_broker import UnregisterBrokerRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


@scenario("unregister_broker")
def unknown_brokers(run: ScenarioRun) -> None:
    for step, broker_id in (("one", 9), ("zero", 0), ("negative", -1), ("largest", 2**31 - 1)):
        run.send(step, UnregisterBrokerRequest(broker_id=broker_id))


@scenario("unregister_broker")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "unregister_broker", b"")
