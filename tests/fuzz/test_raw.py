"""Raw connections with any bytes: each is answered or closed, and others are not affected.

Other seeds each day; a failure names its seed, which OTTLA_TEST_SEED repeats.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from application.streams.stream import RawStream
from interfaces.raw.connection import RawConnection
from interfaces.raw.session import RawSession
from tests.fuzz.raw_round import RawRound

ROUNDS, LONG_ROUNDS, AT_ONCE = 40, 5000, 500
#: Injected faults are found within so many.
FAULT_ROUNDS = 30
DAY_S = 86_400
Patch = pytest.MonkeyPatch


def run_round(seed: int) -> None:
    one = RawRound(seed)
    try:
        one.run()
    except Exception as failure:
        raise AssertionError(f"seed {seed}: {type(failure).__name__}: {failure}") from failure
    finally:
        one.close()


def test_any_bytes_are_answered_or_close_only_their_connection() -> None:
    first = int(os.environ.get("OTTLA_TEST_SEED", "") or int(time.time()) // DAY_S * ROUNDS)
    for seed in range(first, first + ROUNDS):
        run_round(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, LONG_ROUNDS, AT_ONCE))
def test_thousands_of_rounds(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        run_round(seed)


def positions_of_a_batch_are_those_of_its_first_record(patch: Patch) -> None:
    real = RawSession.placed

    def placed(session: RawSession, count: int, positions: Any) -> None:
        real(session, count, [positions[0]] * count if isinstance(positions, range) else positions)

    patch.setattr(RawSession, "placed", placed)


def a_start_within_a_record_is_accepted(patch: Patch) -> None:
    real = RawStream.locate

    def locate(stream: RawStream, position: int) -> int | None:
        try:
            return real(stream, position)
        except Exception:
            return 0

    patch.setattr(RawStream, "locate", locate)


def a_length_is_read_without_its_limit(patch: Patch) -> None:
    real = RawConnection.__init__

    def init(connection: RawConnection, shared: Any, max_record_bytes: int) -> None:
        real(connection, shared, max_record_bytes * 2)

    patch.setattr(RawConnection, "__init__", init)


def clients_that_vanish_stay_followers(patch: Patch) -> None:
    patch.setattr(RawSession, "_end", lambda session: None)


FAULTS = (
    positions_of_a_batch_are_those_of_its_first_record,
    a_start_within_a_record_is_accepted,
    a_length_is_read_without_its_limit,
    clients_that_vanish_stay_followers,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    fault(monkeypatch)
    assert any(fails(seed) for seed in range(FAULT_ROUNDS))


def fails(seed: int) -> bool:
    try:
        run_round(seed)
    except AssertionError:
        return True
    return False
