"""Questions that go through several runs, over tails in memory."""

from __future__ import annotations

import random
import re

import pytest

from infrastructure.storage.postgresql.entries import TIME
from infrastructure.storage.postgresql.questions import Answer, around_timestamp, batches
from infrastructure.storage.postgresql.runs import Run, Span

#: Last offset and timestamp of entries.
Entries = list[tuple[int, int | None]]


class TimestampsInMemory:
    """Executes the statements that `around_timestamp` has."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self.asked = 0

    def __call__(self, statement: str, span: Span, value: int) -> Answer:
        self.asked += 1
        within = [
            (time, offset)
            for offset, time in self._entries
            if span.first_offset <= offset < span.end_offset and time is not None
        ]
        if not re.search("timestamp <", statement):
            return [(TIME.pack(*one),) for one in within[:1]]
        before = [one for one in within if one[0] < value][-1:]
        behind = [one for one in within if one[0] >= value][:1]
        return [(TIME.pack(*one),) for one in (*before, *behind)]


@pytest.mark.parametrize("seed", range(30))
def test_the_run_of_a_timestamp_is_found(seed: int) -> None:
    chance = random.Random(seed)
    runs = tuple(Run(offset, offset) for offset in sorted(chance.sample(range(100), 20)))
    time, entries = 0, Entries()
    has_many = chance.random() < 0.5
    for offset in range(runs[0].first_offset, 120):
        time += chance.randrange(3)
        if chance.random() < 0.8:
            has_time = chance.random() < (0.9 if has_many else 0.1)
            entries.append((offset, time if has_time else None))
    for timestamp in range(-1, time + 2):
        ask = TimestampsInMemory(entries)
        found = [TIME.unpack(one) for (one,) in around_timestamp(ask, runs, (timestamp,))]
        expected = max(
            (at for at, one in entries if one is not None and one < timestamp), default=0
        )
        assert max((at for one, at in found if one < timestamp), default=0) == expected
        assert ask.asked <= 10 or not has_many


def test_a_log_in_one_tail_is_asked_once() -> None:
    ask = TimestampsInMemory([(3, 10)])
    assert around_timestamp(ask, (Run(0, 1),), (11,)) == [(TIME.pack(10, 3),)]
    assert ask.asked == 1
    assert around_timestamp(ask, (), (11,)) == []


def test_a_reader_does_not_wait_for_many_tails() -> None:
    """But for those without entries."""
    runs = tuple(Run(offset, offset) for offset in range(100))

    def ask(_: str, span: Span, most_bytes: int) -> Answer:
        return [(span.first_offset, b"x", None)] if span.first_offset >= 30 else []

    assert [offset for offset, *_ in batches(ask, runs, (40, 100, 1000))] == list(range(40, 56))
    assert [offset for offset, *_ in batches(ask, runs, (0, 100, 1000))] == [30]
