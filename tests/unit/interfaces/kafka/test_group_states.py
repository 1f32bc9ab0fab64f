from __future__ import annotations

import pytest

from domain.groups.classic.states import TRANSITIONS
from interfaces.kafka.group_states import BEGINNING, END, diagram, render


def test_every_transition_is_drawn() -> None:
    drawn = diagram().splitlines()
    assert len(drawn) == len(TRANSITIONS) + 5
    assert "    CompletingRebalance --> Stable: the leader sends the assignment" in drawn


def test_only_what_stands_between_the_marks_is_written_anew() -> None:
    page = f"before\n{BEGINNING}\nold\n{END}\nafter\n"
    written = render(page)
    assert "old" not in written
    assert written.startswith("before\n") and written.endswith("after\n")
    assert render(written) == written


def test_a_page_without_a_place_for_it_is_refused() -> None:
    with pytest.raises(AssertionError):
        render("nothing")
