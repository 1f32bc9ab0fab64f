from __future__ import annotations

import pytest

from application.groups.moves import GroupMoves
from tests.simulation.moving_leaders import FencedFate
from tests.simulation.seeds import SeedFailed, run_worlds

WORLD = "two_coordinators"
FAULTS = (
    "nothing is dropped and loaded",
    "nothing is loaded",
    "the store does not fence",
)


def test_groups_that_move_keep_their_generations_and_offsets() -> None:
    happened = run_worlds(WORLD, range(15))
    assert happened["moves"] > 100 and happened["commits that fail"] > 30
    assert happened["generations of the classic group"] > 50
    assert happened["commits whose outcome is known late"] > 50


def nothing(self: object, moved: object) -> None: ...


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_moving_groups_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == FAULTS[2]:
        monkeypatch.setattr(FencedFate, "fails", False)
    else:
        monkeypatch.setattr(GroupMoves, "gained", nothing)
    if fault == FAULTS[0]:
        monkeypatch.setattr(GroupMoves, "lost", nothing)
    with pytest.raises(SeedFailed, match="Violation"):
        run_worlds(WORLD, range(15))
