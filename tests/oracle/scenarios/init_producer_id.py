from __future__ import annotations

from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.transactions import CONCURRENT_TRANSACTIONS, Producer


def request(
    transactional_id: str | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    timeout_ms: int = 60_000,
) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=timeout_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


@scenario("init_producer_id")
def idempotent_producer_ids(run: ScenarioRun) -> None:
    run.send("the first", request())
    run.send("the second", request())
    run.send("a timeout of zero", request(timeout_ms=0))
    run.send("a negative timeout", request(timeout_ms=-1))


@scenario("init_producer_id")
def an_empty_transactional_id(run: ScenarioRun) -> None:
    run.send("request", request(""))


@scenario("init_producer_id")
def a_transactional_id(run: ScenarioRun) -> None:
    name = f"oracle-{run.version}"
    run.placeholders.add_name(name, "tx")
    run.send("request", request(name))
    run.send("again", request(name))
    run.send("a timeout of zero", request(name, timeout_ms=0))
    run.send("a negative timeout", request(name, timeout_ms=-1))
    run.send("the longest timeout", request(name, timeout_ms=900_000))
    run.send("a timeout above the maximum", request(name, timeout_ms=900_001))
    run.send("the longest int", request(name, timeout_ms=2**31 - 1))


@scenario("init_producer_id", first=3)
def an_existing_producer_id(run: ScenarioRun) -> None:
    run.send("id and epoch", request(producer_id=4_000_000, producer_epoch=3))
    run.send("an id alone", request(producer_id=4_000_000))
    run.send("an epoch alone", request(producer_epoch=3))
    run.send("negative values", request(producer_id=-2, producer_epoch=-2))


@scenario("init_producer_id")
def an_open_transaction(run: ScenarioRun) -> None:
    producer, topic = Producer(run), run.topic("a")
    for version in (3, 5):
        producer.add(topic)
        response = run.send(f"by another producer, {version}", request(producer.name))
        if response.error_code == CONCURRENT_TRANSACTIONS:
            producer.init()
        run.send(f"the next one, {version}", request(producer.name))
        producer.init()
        producer.add(topic)
        producer.end(version=version)
        run.send(f"after the end, {version}", request(producer.name))
        producer.init()


@scenario("init_producer_id", first=3)
def a_transactional_producer_that_continues(run: ScenarioRun) -> None:
    producer = Producer(run)
    name, producer_id = producer.name, producer.id
    run.send("with its id and epoch", request(name, producer_id, 0))
    run.send("the same again", request(name, producer_id, 0))
    run.send("with the next epoch", request(name, producer_id, 1))
    run.send("with an earlier epoch", request(name, producer_id, 0))
    run.send("with a later epoch", request(name, producer_id, 9))
    run.send("with another id", request(name, 4_000_000, 2))
    run.send("another producer", request(name))
    run.send("fenced", request(name, producer_id, 2))
    run.send("an unknown transactional id", request(run.name("new"), producer_id, 2))


@scenario("init_producer_id")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "init_producer_id", b"")
    run.send_raw("half a body", "init_producer_id", b"\xff\xff\0" if run.version < 2 else b"\0\0")
