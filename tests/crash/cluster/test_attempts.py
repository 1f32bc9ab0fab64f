"""The checker finds what is wrong with transactions, and nothing wrong with good ones."""

from __future__ import annotations

import time
from typing import cast

import pytest

from tests.crash.cluster.attempts import (
    ABORTED_READ,
    DOUBLED,
    HANGING,
    LOST,
    REORDERED,
    SPLIT,
    WRONG_OFFSET,
    Attempt,
    Outcome,
    expected_offset,
    findings,
)
from tests.crash.cluster.history import kinds
from tests.crash.cluster.load import LiveReader
from tests.crash.cluster.transactions import TransactionalSender, Transactions

ABORTED, COMMITTED, UNKNOWN = Outcome.ABORTED, Outcome.COMMITTED, Outcome.UNKNOWN


def attempts(*outcomes: Outcome) -> list[Attempt]:
    """Of producer `t`, each to partitions 0 and 1; the offset is the number of the transaction."""
    made = [Attempt(f"t:{number}", [0, 1], number + 1) for number in range(len(outcomes))]
    for one, outcome in zip(made, outcomes, strict=True):
        one.outcome = outcome
    return made


def test_good_transactions_have_no_findings() -> None:
    """One whose end has no response is in all of its partitions, or in none."""
    made = attempts(COMMITTED, ABORTED, UNKNOWN, UNKNOWN, COMMITTED)
    read = {0: ["t:0", "u:7", "t:2", "t:4"], 1: ["t:0", "t:2", "u:6", "t:4", "u:7"], 2: ["u:6"]}
    assert findings("t", made, read) == []
    assert [one.outcome for one in made] == [COMMITTED, ABORTED, COMMITTED, ABORTED, COMMITTED]


@pytest.mark.parametrize(
    "outcome, read, kind",
    [
        (ABORTED, {0: ["t:0"], 1: ["t:0"]}, ABORTED_READ),
        (ABORTED, {0: ["t:0"], 1: []}, ABORTED_READ),
        (COMMITTED, {0: [], 1: []}, LOST),
        (COMMITTED, {0: ["t:0"], 1: []}, LOST),
        (UNKNOWN, {0: [], 1: ["t:0"]}, SPLIT),
        (COMMITTED, {0: ["t:0", "t:0"], 1: ["t:0"]}, DOUBLED),
        (UNKNOWN, {0: ["t:0"], 1: ["t:0", "t:0"]}, DOUBLED),
    ],
)
def test_a_bad_transaction_is_found(
    outcome: Outcome, read: dict[int, list[str]], kind: str
) -> None:
    assert kinds(findings("t", attempts(outcome), read)) == {kind}


def test_transactions_that_changed_places_are_found() -> None:
    read = {0: ["t:1", "t:0"], 1: ["t:0", "t:1"]}
    assert kinds(findings("t", attempts(COMMITTED, COMMITTED), read)) == {REORDERED}


def test_the_offset_is_that_of_the_last_transaction_that_is_committed() -> None:
    assert expected_offset(attempts(COMMITTED, COMMITTED, ABORTED)) == 2
    assert expected_offset(attempts(ABORTED)) is None
    without = attempts(COMMITTED, COMMITTED)
    without[-1].offset = None
    assert expected_offset(without) == 1


@pytest.mark.parametrize("is_read", [True, False])
def test_the_offset_follows_an_end_without_a_response(is_read: bool) -> None:
    made = attempts(UNKNOWN)
    assert findings("t", made, {one: ["t:0"] * is_read for one in (0, 1)}) == []
    assert expected_offset(made) == (1 if is_read else None)


# ---- of all producers


class Seen:
    """In place of a producer and a reader, which need brokers."""

    def __init__(self, made: list[Attempt], values: dict[int, list[str]]) -> None:
        self._name, self.attempts, self.values = "t", made, values
        self.positions = [len(one) for one in values.values()]
        self.newest_s = time.monotonic()


class Ended(Transactions):
    """`offset`: as it is committed."""

    def __init__(self, seen: Seen, ends: list[int], offset: int | None) -> None:
        self._ends, self._count, self._offset = ends, len(ends), offset
        self.senders = [cast(TransactionalSender, seen)]
        self.reader = cast(LiveReader, seen)
        self.values = seen.values

    def _end_of(self, index: int, patience_s: float) -> int:
        return self._ends[index]

    def _has_offset(self, sender: TransactionalSender, expected: int | None) -> bool:
        return expected == self._offset


@pytest.mark.parametrize(
    "ends, offset, kind",
    [
        ([1, 1], 1, set()),
        ([1, 1], None, {WRONG_OFFSET}),
        ([1, 1], 2, {WRONG_OFFSET}),
        ([1, 2], 1, {HANGING}),
    ],
)
def test_open_transactions_and_wrong_offsets_are_found(
    ends: list[int], offset: int | None, kind: set[str]
) -> None:
    seen = Seen(attempts(COMMITTED), {0: ["t:0"], 1: ["t:0"]})
    assert kinds(Ended(seen, ends, offset).findings(0)) == kind


def test_a_producer_without_an_end_is_stuck() -> None:
    seen = Seen([], {})
    ended = Ended(seen, [], None)
    assert ended.stuck("now", seen.newest_s - 1, 0) == []
    assert ended.stuck("now", seen.newest_s, 0) == ["t: transactions are stuck now"]
