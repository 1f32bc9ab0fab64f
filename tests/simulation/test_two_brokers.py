from __future__ import annotations

import pytest

from application.state.catalog import Catalog
from tests.simulation.moving_leaders import FencedFate
from tests.simulation.seeds import SeedFailed, run_worlds

WORLD = "two_brokers"
FAULTS = "a leader does not drop its state", "the store does not fence"


def test_a_partition_that_moves_has_every_record_exactly_once() -> None:
    happened = run_worlds(WORLD, range(30))
    assert happened["moves"] > 100 and happened["commits that fail"] > 10
    assert happened["commits whose outcome is known late"] > 50


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_moving_partitions_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == FAULTS[0]:
        monkeypatch.setattr(Catalog, "_leaders_changed", lambda self, partition_ids: None)
    else:
        monkeypatch.setattr(FencedFate, "fails", False)
    with pytest.raises(SeedFailed, match="Violation"):
        run_worlds(WORLD, range(30))
