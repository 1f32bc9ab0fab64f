"""The fuzzer finds bugs that are injected into the broker."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from application.partitions.fetch import FetchService
from interfaces.connections.budgets import ByteBudget
from interfaces.connections.framing import Framing
from interfaces.kafka.connections.connection import Connection
from interfaces.kafka.connections.session import Session
from interfaces.kafka.requests import dispatch
from interfaces.kafka.requests.accounting import RequestAccounting
from interfaces.kafka.requests.call import Call
from tests.fuzz.events import events_of
from tests.fuzz.round import Round

#: The suite may miss a fault that thirty rounds do not find.
ROUNDS = 30

Patch = pytest.MonkeyPatch


def header_tags_raise_an_index_error(patch: Patch) -> None:
    def skip(frame: memoryview, position: int) -> int:
        return position + 1 + frame[position] * 2 if frame[position] < 9 else frame[len(frame)]

    patch.setattr(dispatch, "skip_header_tags", skip)


def a_negative_offset_raises_another_exception(patch: Patch) -> None:
    real = FetchService.fetch

    def fetch(service: FetchService, query: Any) -> Any:
        assert all(item.offset > -2 for item in query.items)
        return real(service, query)

    patch.setattr(FetchService, "fetch", fetch)


def responses_change_their_order(patch: Patch) -> None:
    real = RequestAccounting.take

    def take(accounting: RequestAccounting, replies: deque[Call]) -> Any:
        if len(replies) == 4 and all(one.pieces for one in replies):
            replies.rotate(1)
        return real(accounting, replies)

    patch.setattr(RequestAccounting, "take", take)


def closed_connections_stay_in_the_queue(patch: Patch) -> None:
    patch.setattr(ByteBudget, "forget", lambda _budget, _admitted: None)


def memory_is_not_released(patch: Patch) -> None:
    patch.setattr(Session, "_release_all", lambda session: session.connection.forget_parked())


def a_frame_that_is_too_large_is_accepted(patch: Patch) -> None:
    real = Framing.__init__

    def init(framing: Framing, shared: Any, _max_frame_bytes: int, min_frame_bytes: int) -> None:
        real(framing, shared, 2**31 - 1, min_frame_bytes)

    patch.setattr(Framing, "__init__", init)


def a_parked_request_is_dropped(patch: Patch) -> None:
    real = Connection.park

    def park(connection: Connection, frame: memoryview) -> None:
        if len(connection.parked) < 3:
            real(connection, frame)

    patch.setattr(Connection, "park", park)


FAULTS = (
    header_tags_raise_an_index_error,
    a_negative_offset_raises_another_exception,
    responses_change_their_order,
    closed_connections_stay_in_the_queue,
    memory_is_not_released,
    a_frame_that_is_too_large_is_accepted,
    a_parked_request_is_dropped,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    fault(monkeypatch)
    assert any(fails(seed) for seed in range(ROUNDS))


def fails(seed: int) -> bool:
    one = Round()
    try:
        one.run(events_of(seed, 500))
    except Exception:
        return True
    finally:
        one.close()
    return False
