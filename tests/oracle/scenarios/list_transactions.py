from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.list_transactions import ListTransactionsRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.transactions import Producer


def request(**facts: Any) -> ListTransactionsRequest:
    return ListTransactionsRequest(**facts)


def three(run: ScenarioRun) -> list[Producer]:
    topic = run.topic("a")
    producers = [Producer(run, short) for short in ("empty", "ongoing", "committed")]
    for one in producers[1:]:
        one.add(topic)
    producers[2].end()
    return producers


@scenario("list_transactions")
def filters(run: ScenarioRun) -> None:
    producers = three(run)
    run.send("none", request())
    for name in ("Empty", "Ongoing", "CompleteCommit", "PrepareEpochFence", "Dead"):
        run.send(f"state {name}", request(state_filters=[name]))
    run.send("two states", request(state_filters=["Empty", "Ongoing"]))
    run.send("an unknown state", request(state_filters=["ongoing", "Unknown"]))
    run.send("a known and an unknown state", request(state_filters=["Ongoing", "Unknown"]))
    run.send("a producer id", request(producer_id_filters=[producers[1].id]))
    run.send("an unknown producer id", request(producer_id_filters=[4_000_000]))
    both = request(producer_id_filters=[producers[1].id], state_filters=["Empty"])
    run.send("a producer id and another state", both)


@scenario("list_transactions", first=1)
def durations(run: ScenarioRun) -> None:
    three(run)
    for duration in (-2, -1, 600_000, 1 << 62):
        run.send(f"{duration}", request(duration_filter=duration))


@scenario("list_transactions", first=2)
def patterns(run: ScenarioRun) -> None:
    three(run)
    for pattern in (".*-ongoing", "ongoing", "", "(", "(?=x)", ".*(empty|committed)"):
        run.send(f"pattern {pattern}", request(transactional_id_pattern=pattern))


@scenario("list_transactions")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "list_transactions", b"")
