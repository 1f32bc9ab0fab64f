"""Which tails are dropped, and from which ones entries are moved."""

from __future__ import annotations

from typing import cast

from infrastructure.storage.postgresql.runs import Run, Runs
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.tails import TailRow, Tails

FULL = 100


def full_tails(*runs_of: int) -> tuple[Tails, Runs]:
    """Tails from 1 on, each with a log of its own from each of these; the current one is next."""
    runs = Runs()
    tails = Tails(runs, FULL)
    tails.begin(1)
    for number, partition_id in enumerate(runs_of, 1):
        runs.put(partition_id, (*runs.of(partition_id), Run(number, number)))
        tails.add(FULL)
        tails.begin(number + 1)
    return tails, runs


def test_a_tail_is_full_after_so_many_bytes() -> None:
    tails, _ = full_tails()
    tails.add(FULL - 1)
    assert not tails.is_full
    tails.add(1)
    assert tails.is_full
    tails.begin(2)
    assert not tails.is_full


def test_a_full_tail_without_runs_is_dropped() -> None:
    tails, runs = full_tails(7, 8)
    assert tails.unused == ()
    runs.put(7, ())
    tails.changed({1: FULL})
    assert tails.unused == (1,)
    tails.forget(1)
    assert tails.unused == ()


def test_the_current_tail_is_not_dropped() -> None:
    tails, _ = full_tails()
    tails.add(10)
    tails.changed({1: 10})
    assert tails.unused == ()


def test_retention_moves_nothing() -> None:
    """Of logs that go at the same pace, however far."""
    tails, runs = full_tails(*range(10))
    for number in range(1, 11):
        for _ in range(10):
            tails.changed({number: 10})
            assert tails.sparse is None
        runs.put(number - 1, ())
        tails.changed({})
        tails.forget(number)


def test_a_slow_log_keeps_no_more_than_is_live_and_two_tails() -> None:
    tails, _ = full_tails(*range(6))
    for number in (1, 2):
        tails.changed({number: 90 + number})
    tails.changed({3: 100 - 1, 4: 100 - 2})
    assert tails.sparse is None, "380 bytes are dead, 220 are live, and 200 may be dead beyond"
    tails.changed({5: 40})
    assert tails.sparse == 3, "which has the least"


def test_a_tail_from_which_all_was_moved_does_not_count() -> None:
    tails, runs = full_tails(*range(5))
    tails.changed(dict.fromkeys(range(1, 6), 95))
    moved = []
    while (sparse := tails.sparse) is not None:
        moved.append(sparse)
        runs.put(sparse - 1, (Run(0, 6),))
        tails.add(5)
        tails.changed({sparse: 5})
    assert moved == [1, 2, 3]
    assert tails.unused == (1, 2, 3)


def test_what_other_brokers_have_freed_counts_once_it_is_counted_again() -> None:
    """Each of two frees less than half of tails in which both have entries."""
    tails, runs = full_tails(*range(5))
    runs.put(9, (Run(0, 7),))
    tails.add_known([TailRow(7, 0, 40, None)])  # the current one of another broker
    tails.changed(dict.fromkeys(range(1, 6), 45))
    assert tails.sparse is None
    tails.count_again([TailRow(number, FULL, 90 - number, None) for number in range(1, 6)])
    assert tails.sparse == 1
    tails.count_again([TailRow(7, FULL, 95, None)])
    assert tails.sparse == 7, "it is full now"


def test_the_current_tail_is_counted_again_too() -> None:
    """Its row does not have what is written."""
    tails, _ = full_tails()
    tails.add(FULL)
    tails.count_again([TailRow(1, 0, 10, None)])
    assert tails.is_full
    assert tails.sizes().in_database == FULL - 10


def test_no_size_is_negative() -> None:
    """Of the current tail of another broker only what is dead is known."""
    tails, _ = full_tails()
    tails.add_known([TailRow(7, 0, 40, None)])
    assert tails.sizes().in_database == 0


def test_an_object_is_needed_before_runs_refer_to_it() -> None:
    runs = Runs()
    tails = Tails(runs)
    tails.begin(1)
    tails.add_object(TailRow(2, 100, 0, "name"))
    tails.add_known([TailRow(3, 100, 0, None)])  # of a partition that is gained meanwhile
    assert tails.unused == (3,)
    runs.put(7, (Run(0, 2),))
    tails.sealed(is_looked_for=True)
    tails.forget(2)
    assert tails.object_of(2) == "name"
    runs.put(7, ())
    tails.changed({})
    assert tails.unused == (2, 3)


class _Gaining:
    """A connection. While it responds, the loop gains a log with an object."""

    def __init__(self, tails: Tails, runs: Runs) -> None:
        self._tails = tails
        self._runs = runs

    def execute(self, *_: object) -> _Gaining:
        self._runs.put(7, (Run(0, 5),))
        self._tails.add_known([TailRow(5, FULL, 0, "name")])
        return self

    def fetchall(self) -> list[tuple[int, int, int]]:
        return []


def test_what_is_gained_while_a_database_is_read_again_is_known() -> None:
    """It has lost commits."""
    tails, runs = full_tails(3)
    tails.reload(cast("Rows", _Gaining(tails, runs)), 1, [TailRow(3, FULL, 0, None)])
    assert tails.object_of(5) == "name"
    assert set(tails.known()) == {1, 3, 5}
    runs.put(3, ())
    tails.changed({})
    assert 1 in tails.unused


def objects(*sizes: tuple[int, int]) -> Tails:
    """Tails from 2 on, of so many bytes, and so many dead ones; a full object has 100."""
    runs = Runs()
    tails = Tails(runs, 8 * FULL)
    tails.local_bytes = 0
    tails.begin(1)
    for number, (written_bytes, dead_bytes) in enumerate(sizes, 2):
        runs.put(number, (Run(0, number),))
        tails.add_known([TailRow(number, written_bytes, dead_bytes, f"object {number}")])
    return tails


def test_enough_small_objects_are_joined() -> None:
    assert objects((24, 0), (25, 0), (24, 0), (24, 0), (24, 4)).to_seal == ()
    joined = objects((24, 0), (25, 0), (24, 0), (24, 0), (24, 0), (10, 0), (10, 0), (10, 0))
    assert joined.to_seal == (2, 4, 5, 6, 7)
    assert set(joined.small(joined.to_seal)) == set(joined.to_seal)
    assert joined.small((2, 3)) == {}
    assert objects(*[(1, 0)] * 99).to_seal == ()
    joined.add_object(TailRow(100, 4, 0, "object 100"), is_joined=True)
    joined._runs.put(100, (Run(0, 100),))
    joined.sealed(is_looked_for=True)
    assert joined.to_seal == (2, 4, 5, 6, 7), "one of them is joined already"
    joined.aside = (4,)
    joined.changed({})
    assert joined.to_seal == (2, 5, 6, 7, 8, 9)
    assert objects(*[(1, 0)] * 101).to_seal == tuple(range(2, 102))


def test_small_objects_that_are_mostly_dead_are_joined_a_few_at_once() -> None:
    """They are read whole."""
    assert objects(*[(20, 19)] * 30).to_seal == tuple(range(2, 12))


def test_no_object_that_is_wholly_live_is_written_again() -> None:
    dead = [(1000, 990 - number) for number in range(3)]
    found = objects((500, 0), *dead)
    assert found.to_seal == (3, 4, 5)
    found = objects(*[(1000, 920)] * 20)
    assert found.to_seal == (2, 3), "which fill one"
