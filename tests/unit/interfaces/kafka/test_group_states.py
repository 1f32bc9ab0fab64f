from __future__ import annotations

import pytest

from domain.groups.classic.states import TRANSITIONS
from interfaces.kafka.group_states import BEGINNING, END, diagram, render


def test_the_diagram_has_every_transition() -> None:
    drawn = diagram().splitlines()
    assert len(drawn) == len(TRANSITIONS) + 5
    assert "    CompletingRebalance --> Stable: the leader sends the assignment" in drawn


def test_only_the_text_between_the_marks_is_replaced() -> None:
    page = f"before\n{BEGINNING}\nold\n{END}\nafter\n"
    written = render(page)
    assert "old" not in written
    assert written.startswith("before\n") and written.endswith("after\n")
    assert render(written) == written


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(AssertionError):
        render("nothing")
