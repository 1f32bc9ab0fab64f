from __future__ import annotations

from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(
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
def ids_of_idempotent_producers(tell: Teller) -> None:
    tell.ask("the first", asked())
    tell.ask("the second", asked())
    tell.ask("a timeout of zero", asked(timeout_ms=0))
    tell.ask("a negative timeout", asked(timeout_ms=-1))


@scenario("init_producer_id")
def an_empty_transactional_id(tell: Teller) -> None:
    tell.ask("ask", asked(""))


@scenario("init_producer_id")
def a_transactional_id(tell: Teller) -> None:
    name = f"oracle-{tell.version}"
    tell.ask("ask", asked(name))
    tell.ask("a timeout of zero", asked(name, timeout_ms=0))


@scenario("init_producer_id", first=3)
def an_id_that_the_producer_has(tell: Teller) -> None:
    tell.ask("id and epoch", asked(producer_id=4_000_000, producer_epoch=3))
    tell.ask("an id alone", asked(producer_id=4_000_000))
    tell.ask("an epoch alone", asked(producer_epoch=3))
    tell.ask("negative ones", asked(producer_id=-2, producer_epoch=-2))


@scenario("init_producer_id")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "init_producer_id", b"")
    tell.ask_raw("half a body", "init_producer_id", b"\xff\xff\0" if tell.version < 2 else b"\0\0")
