"""Runs, against a list that says of each offset in which tail it is."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from infrastructure.storage.postgresql.runs import (
    ABOVE_ALL_OFFSETS,
    LogRuns,
    Run,
    Runs,
    Span,
    moved,
    newly_in,
    spans,
    tail_of,
    until,
    without,
)

RUNS = (Run(10, 1), Run(20, 3), Run(50, 2))


def test_spans_are_the_parts_of_runs_between_two_offsets() -> None:
    assert list(spans(RUNS, 0)) == [
        Span(1, 10, 20),
        Span(3, 20, 50),
        Span(2, 50, ABOVE_ALL_OFFSETS),
    ]
    assert list(spans(RUNS, 15, 21)) == [Span(1, 15, 20), Span(3, 20, 21)]
    assert list(spans(RUNS, 60)) == [Span(2, 60, ABOVE_ALL_OFFSETS)]
    assert list(spans(RUNS, 0, 10)) == list(spans((), 0)) == []


@pytest.mark.parametrize("offset, tail", [(9, None), (10, 1), (19, 1), (20, 3), (1000, 2)])
def test_the_tail_of_an_offset(offset: int, tail: int | None) -> None:
    assert tail_of(RUNS, offset) == tail


def test_runs_below_an_offset_are_gone() -> None:
    assert without(RUNS, 5) == RUNS
    assert without(RUNS, 15) == (Run(15, 1), Run(20, 3), Run(50, 2))
    assert without(RUNS, 20) == RUNS[1:]
    assert without(RUNS, 90) == (Run(90, 2),)


@pytest.mark.parametrize("end, count", [(5, 0), (10, 0), (11, 1), (20, 1), (50, 2), (51, 3)])
def test_runs_that_begin_below_an_offset(end: int, count: int) -> None:
    assert until(RUNS, end) == RUNS[:count]


def test_neighbours_in_one_tail_are_one_run() -> None:
    assert moved(RUNS, Span(1, 20, 50), 90) == (Run(10, 1), Run(50, 2))
    assert moved(RUNS, Span(2, 40, 50), 90) == (Run(10, 1), Run(20, 3), Run(40, 2))


def test_nothing_stays_behind_the_newest_entry() -> None:
    assert moved(RUNS, Span(4, 60, 90), 90) == (*RUNS, Run(60, 4))
    assert moved(RUNS, Span(4, 60, 90), 91) == (*RUNS, Run(60, 4), Run(90, 2))


def test_a_run_that_a_commit_has_just_begun_stays() -> None:
    """The end of the log is known later than its runs."""
    assert moved(RUNS, Span(4, 20, 50), 50) == (Run(10, 1), Run(20, 4), Run(50, 2))


@pytest.mark.parametrize("seed", range(20))
def test_any_changes(seed: int) -> None:
    chance = random.Random(seed)
    start, end = 0, 60
    tails = [1] * end
    runs: LogRuns = (Run(0, 1),)
    for tail in range(2, 40):
        before = runs
        first = chance.randrange(start, end)
        if chance.random() < 0.3:
            runs, start = without(runs, first), first
        else:
            last = chance.randrange(first, end)
            runs = moved(runs, Span(chance.randrange(1, tail), first, last + 1), end)
            chosen = tail_of(runs, first)
            assert chosen is not None
            tails[first : last + 1] = [chosen] * (last + 1 - first)
        assert [tail_of(runs, offset) for offset in range(start, end)] == tails[start:]
        assert all(one.tail != other.tail for one, other in pairwise(runs))
        for one in range(1, tail):
            new = list(newly_in(one, before, runs))
            for offset in range(end):
                is_new = tail_of(runs, offset) == one != tail_of(before, offset)
                within = sum(span.first_offset <= offset < span.end_offset for span in new)
                assert within == is_new


def test_tails_to_which_runs_refer() -> None:
    runs = Runs()
    runs.put(7, RUNS)
    runs.put(8, (Run(0, 2),))
    assert sorted(runs.partition_ids()) == [7, 8]
    runs.put(7, ())
    assert [runs.are_in(tail) for tail in (1, 2, 3)] == [False, True, False]
    assert runs.of(7) == ()
    assert runs.partition_ids() == [8]


def test_tails_that_are_gone_are_not_counted_for_ever() -> None:
    """Each commit may have an object of its own."""
    runs = Runs()
    runs.put(7, (Run(0, 1), Run(5, 2), Run(9, 1)))
    runs.put(8, (Run(0, 2),))
    runs.put(7, (Run(9, 3),))
    assert [tail for tail in range(5) if runs.are_in(tail)] == [2, 3]
    runs.put(8, ())
    assert [*runs._count] == [3]
