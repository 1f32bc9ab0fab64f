from __future__ import annotations

from collections import Counter

import pytest

from application.state.catalog import Catalog
from domain.cluster.registration import PartitionRegistration
from tests.fakes.commit import FakeCommit
from tests.fakes.shared_store import SharedCommit
from tests.simulation.model import Violation
from tests.simulation.several_brokers import SeveralBrokers


def run(seeds: range) -> Counter[str]:
    happened: Counter[str] = Counter()
    for seed in seeds:
        world = SeveralBrokers(seed)
        world.run()
        happened.update(
            acknowledged=len(world.acknowledged),
            lost=world.lost,
            stops=world.stops,
            fences=world.fences,
            asked=world.asked,
            epochs=len(world.led),
            went_back=world.went_back,
        )
    return happened


def test_every_acknowledged_record_is_in_one_log_and_each_epoch_has_one_leader() -> None:
    happened = run(range(45))
    assert happened["acknowledged"] > 1000 and happened["lost"] > 50
    assert min(happened[each] for each in ("stops", "fences", "asked", "epochs", "went_back")) > 50


FAULTS = (
    "the store does not fence",
    "a leader does not drop its state",
    "a start does not raise the epoch",
)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == FAULTS[0]:
        monkeypatch.setattr(SharedCommit, "_finish", FakeCommit._finish)
    elif fault == FAULTS[2]:
        monkeypatch.setattr(PartitionRegistration, "raised", lambda self: self)
    else:
        monkeypatch.setattr(Catalog, "_leaders_changed", lambda self, partition_ids: None)
    with pytest.raises(Violation):
        run(range(100))
