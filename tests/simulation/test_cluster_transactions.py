from __future__ import annotations

from collections import Counter

import pytest

from application.state.coordinators import Coordinators
from application.transactions.cluster_ends import ClusterEnds
from application.transactions.requested_markers import RequestedMarkers
from domain.transactions.decisions import complete
from domain.transactions.transaction import Transaction
from tests.simulation.actors.transactional_client import Outcome
from tests.simulation.cluster_transactions import ClusterTransactions
from tests.simulation.model import Violation


def run(seeds: range) -> Counter[object]:
    happened: Counter[object] = Counter()
    for seed in seeds:
        world = ClusterTransactions(seed)
        world.run()
        happened.update(world.ended)
        happened.update(stops=world.stops, fences=world.fences, asked=world.asked)
    return happened


def test_each_transaction_ends_in_one_way_in_all_its_partitions() -> None:
    happened = run(range(12))
    assert min(happened[one] for one in (Outcome.COMMITTED, Outcome.ABORTED)) > 50
    assert min(happened[one] for one in ("stops", "fences", "asked")) > 20


def follow_epochs(coordinators: Coordinators) -> None:
    before, after = coordinators._led, coordinators._led_now()
    if before == after:
        return
    moved = before.leaders.items() ^ after.leaders.items()
    coordinators._led = after
    for calls, led in ((coordinators._lost, before), (coordinators._gained, after)):
        for call in calls:
            call(lambda key, led=led: any(led.partition_id(key) == one for one, _ in moved))


FAULTS = (
    "a leader removes a request without its marker",
    "a coordinator does not wait",
    "a coordinator loads again in a new leader epoch",
)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == FAULTS[0]:
        monkeypatch.setattr(RequestedMarkers, "_end", lambda self, one: None)
    elif fault == FAULTS[2]:
        # All that is led here is lost, and gained, with each epoch.
        monkeypatch.setattr(Coordinators, "_follow", follow_epochs)
    else:
        end = ClusterEnds.end

        def hasty(self: ClusterEnds, prepared: Transaction) -> Transaction:
            after = end(self, prepared)
            if after.is_prepared:
                after = complete(after, after.updated_ms)
                self._registry.put(after)
            return after

        monkeypatch.setattr(ClusterEnds, "end", hasty)
    with pytest.raises((Violation, AssertionError)):
        run(range(16))
