"""What a commit does to the runs of logs."""

from __future__ import annotations

import random

import pytest

from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.runs import ABOVE_ALL_OFFSETS, LogRuns, Run, Runs
from infrastructure.storage.postgresql.staged import Rewritten, Staged
from tests.contract.batches import batch

P, TAIL = 7, 5


def planned(staged: Staged, before: LogRuns, end: int | None, tail: int = TAIL) -> Plan:
    runs = Runs()
    runs.put(P, before)
    staged.end()
    plan = Plan(runs, {} if end is None else {P: end}, tail)
    plan.take(staged)
    return plan


def appended(last_offset: int) -> Staged:
    staged = Staged()
    staged.append(P, last_offset, batch(last_offset, first_offset=last_offset - 1), -1)
    return staged


def test_the_first_entry_of_a_log_begins_a_run_with_its_first_batch() -> None:
    plan = planned(appended(41), (), None)
    assert plan.new_runs == {P: (Run(40, TAIL),)}
    assert plan.new_ranges() == [(P, 40, ABOVE_ALL_OFFSETS)]
    assert (plan.put(), plan.removed()) == ([(P, 40, TAIL)], [])


def test_the_first_entry_in_a_new_tail_begins_a_run_at_the_end() -> None:
    plan = planned(appended(41), (Run(0, 3),), 30)
    assert plan.put() == [(P, 30, TAIL)]
    assert plan.new_ranges() == [(P, 30, ABOVE_ALL_OFFSETS)]


@pytest.mark.parametrize(
    "before, after",
    [
        ((Run(0, 3), Run(30, 4)), (Run(0, 3), Run(30, TAIL))),
        ((Run(0, 3), Run(30, 4), Run(35, 2)), (Run(0, 3), Run(30, TAIL))),
        ((Run(0, 3), Run(30, 4), Run(35, TAIL)), (Run(0, 3), Run(30, TAIL))),
        ((Run(0, TAIL), Run(30, 4)), (Run(0, TAIL),)),
        ((Run(30, 4), Run(35, 3)), (Run(30, TAIL),)),
    ],
)
def test_an_entry_behind_runs_of_which_nothing_is_left(before: LogRuns, after: LogRuns) -> None:
    """They would cover it, and it is not in their tails."""
    plan = planned(appended(41), before, 30)
    assert plan.new_runs == {P: after}
    assert plan.new_ranges() == [(P, 30, 35 if Run(35, TAIL) in before else ABOVE_ALL_OFFSETS)]


def test_a_further_entry_in_a_tail_changes_no_run() -> None:
    plan = planned(appended(41), (Run(0, 3), Run(30, TAIL)), 40)
    assert plan.new_runs == {}
    assert plan.new_ranges() == []


def test_a_trimmed_run_begins_behind_the_last_entry() -> None:
    staged = Staged()
    staged.trim(P, 34, [(19, 100), (34, 50)])
    plan = planned(staged, (Run(0, 3), Run(30, 4)), 90)
    assert (plan.put(), sorted(plan.removed())) == ([(P, 35, 4)], [(P, 0), (P, 30)])
    assert plan.dead == {3: 100, 4: 50}


def test_a_log_that_is_trimmed_to_its_end_begins_again() -> None:
    staged = appended(99)
    staged.trim(P, 89, [])
    plan = planned(staged, (Run(0, 3), Run(30, 4)), 90)
    assert plan.new_runs == {P: (Run(98, TAIL),)}
    assert plan.new_ranges() == [(P, 98, ABOVE_ALL_OFFSETS)]
    staged = Staged()
    staged.trim(P, 89, [])
    assert planned(staged, (Run(0, 3),), 90).new_runs == {P: ()}


def test_a_log_that_begins_again_in_its_tail_has_new_entries_only() -> None:
    staged = appended(5)
    staged.trim(P, 89, [])
    plan = planned(staged, (Run(0, TAIL),), 90)
    assert plan.new_runs == {P: (Run(4, TAIL),)}
    assert plan.new_ranges() == [(P, 4, ABOVE_ALL_OFFSETS)]


def test_a_trim_that_an_append_has_overtaken_leaves_it() -> None:
    staged = Staged()
    staged.trim(P, 89, [])
    assert planned(staged, (Run(0, 3),), 91).new_runs == {P: (Run(90, 3),)}


def test_rewritten_entries_are_in_the_current_tail() -> None:
    staged = Staged()
    staged.rewrite(Rewritten(P, 10, 19, 0), [], [(14, 30), (19, 40)])
    plan = planned(staged, (Run(0, 3), Run(50, 4)), 90)
    assert plan.new_runs == {P: (Run(0, 3), Run(10, TAIL), Run(20, 3), Run(50, 4))}
    assert plan.new_ranges() == [(P, 10, 20)]
    assert plan.dead == {3: 70}
    assert staged.removed == [(P, 14), (P, 19)]


@pytest.mark.parametrize("seed", range(20))
def test_rows_become_the_new_runs(seed: int) -> None:
    chance = random.Random(seed)
    rows: dict[int, int] = {}
    runs: LogRuns = ()
    end: int | None = None
    for tail in range(1, 40):
        staged = Staged()
        if end is not None and chance.random() < 0.4:
            staged.trim(P, chance.randrange(end + 2), [])
        if end is not None and not staged.trimmed and chance.random() < 0.5:
            first = chance.randrange(end)
            staged.rewrite(Rewritten(P, first, chance.randrange(first, end), end), [], [])
        if chance.random() < 0.5:
            staged.append(P, (end or 0) + 2, batch((end or 0) + 2), -1)
        plan = planned(staged, runs, end, tail)
        for _, first_offset in plan.removed():
            del rows[first_offset]
        for _, first_offset, in_tail in plan.put():
            rows[first_offset] = in_tail
        runs = plan.of(P)
        assert tuple(Run(*row) for row in sorted(rows.items())) == runs
        if staged.added:
            end = staged.added[-1].last_offset + 1
        elif not runs:
            end = None
