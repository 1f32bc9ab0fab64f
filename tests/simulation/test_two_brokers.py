from __future__ import annotations

from collections import Counter

import pytest

from application.state.catalog import Catalog
from tests.simulation.model import Violation
from tests.simulation.two_brokers import FencedFate, TwoBrokers


def run(seeds: range) -> Counter[str]:
    happened: Counter[str] = Counter()
    for seed in seeds:
        world = TwoBrokers(seed)
        world.run()
        happened.update(moves=world.moves, fenced=world.fenced)
    return happened


def test_a_partition_that_moves_has_every_record_exactly_once() -> None:
    happened = run(range(30))
    assert happened["moves"] > 100 and happened["fenced"] > 10


@pytest.mark.parametrize("fault", ["a leader does not drop its state", "the store does not fence"])
def test_a_fault_of_moving_partitions_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "the store does not fence":
        monkeypatch.setattr(FencedFate, "fails", False)
    else:
        monkeypatch.setattr(Catalog, "_leaders_changed", lambda self, partition_ids: None)
    with pytest.raises(Violation):
        run(range(30))
