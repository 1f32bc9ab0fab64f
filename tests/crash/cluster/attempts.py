"""Transactions of a producer, and what is wrong with what is read of them. Without I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

ABORTED_READ, LOST, DOUBLED = "aborted read", "lost transaction", "doubled transaction"
SPLIT, REORDERED, HANGING = "split transaction", "reordered transactions", "open transaction"
WRONG_OFFSET = "wrong committed offset"


class Outcome(Enum):
    #: Its end was requested, and has no response.
    UNKNOWN = "unknown"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Attempt:
    """A transaction, which writes its name to some partitions."""

    def __init__(self, name: str, indexes: Sequence[int], offset: int | None) -> None:
        self.name, self.indexes, self.offset = name, indexes, offset
        self.outcome = Outcome.ABORTED


def findings(
    producer: str, attempts: Sequence[Attempt], values: Mapping[int, Sequence[str]]
) -> list[str]:
    """What is wrong, when all transactions have ended, and their partitions are read."""
    found: list[str] = []
    for attempt in attempts:
        counts = {one: values[one].count(attempt.name) for one in attempt.indexes}
        found += _wrong(attempt, counts)
        if attempt.outcome is Outcome.UNKNOWN:
            is_there = any(counts.values())
            attempt.outcome = Outcome.COMMITTED if is_there else Outcome.ABORTED
    for index, read in values.items():
        own = [value for value in read if value.partition(":")[0] == producer]
        numbers = [int(value.partition(":")[2]) for value in own]
        if numbers != sorted(numbers):
            found.append(f"{REORDERED}: {index}: {own}"[:300])
    return found


def _wrong(attempt: Attempt, counts: dict[int, int]) -> list[str]:
    where = f"{attempt.name}, {attempt.outcome.value}: {counts}"
    found = [f"{DOUBLED}: {where}"] if max(counts.values()) > 1 else []
    if attempt.outcome is Outcome.ABORTED and any(counts.values()):
        found.append(f"{ABORTED_READ}: {where}")
    elif attempt.outcome is Outcome.COMMITTED and not all(counts.values()):
        found.append(f"{LOST}: {where}")
    elif any(counts.values()) and not all(counts.values()):
        found.append(f"{SPLIT}: {where}")
    return found


def expected_offset(attempts: Sequence[Attempt]) -> int | None:
    """After `findings`. None: no transaction has committed one."""
    committed = [
        one.offset for one in attempts
        if one.outcome is Outcome.COMMITTED and one.offset is not None
    ]  # fmt: skip
    return committed[-1] if committed else None
