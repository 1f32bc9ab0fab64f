from __future__ import annotations

from collections import Counter

import pytest

from application.groups.moves import GroupMoves
from tests.simulation.model import Violation
from tests.simulation.two_coordinators import SessionFate, TwoCoordinators


def run(seeds: range) -> Counter[str]:
    happened: Counter[str] = Counter()
    for seed in seeds:
        world = TwoCoordinators(seed)
        world.run()
        happened.update(moves=world.moves, fenced=world.fenced, generations=len(world.generations))
    return happened


def test_groups_that_move_keep_their_generations_and_offsets() -> None:
    happened = run(range(15))
    assert happened["moves"] > 100 and happened["fenced"] > 30
    assert happened["generations"] > 50


def nothing(self: object, moved: object) -> None: ...


@pytest.mark.parametrize(
    "fault",
    ["nothing is dropped and loaded", "nothing is loaded", "the store does not fence"],
)
def test_a_fault_of_moving_groups_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "the store does not fence":
        monkeypatch.setattr(SessionFate, "fails", False)
    else:
        monkeypatch.setattr(GroupMoves, "gained", nothing)
    if fault == "nothing is dropped and loaded":
        monkeypatch.setattr(GroupMoves, "lost", nothing)
    with pytest.raises(Violation):
        run(range(15))
