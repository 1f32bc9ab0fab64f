"""Each of these faults is injected into the broker, and the simulation has to find it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.simulation.compaction import has_compaction
from tests.simulation.faults.compaction import COMPACTION
from tests.simulation.faults.groups import GROUPS
from tests.simulation.faults.log import LOG
from tests.simulation.faults.serving import SERVING
from tests.simulation.faults.starts import STARTS
from tests.simulation.faults.topics import TOPICS
from tests.simulation.seeds import first_failure
from tests.simulation.world import has_groups

#: One of these seeds has to find a fault.
SEEDS = 200

Patch = pytest.MonkeyPatch
FAULTS = SERVING + TOPICS + LOG + STARTS
#: Faults of groups need worlds with groups, and some are rare.
SEEDS_WITH_GROUPS = [seed for seed in range(300) if has_groups(seed)]
SEEDS_WITH_COMPACTION = [seed for seed in range(300) if has_compaction(seed)]
#: Seeds that found rare faults, tried first; when the simulation changes, others find them.
FIRST = {
    "epoch_is_not_persisted": 116,
    "waiting_fetches_are_not_released_at_shutdown": 150,
    "connection_stays_open_after_a_lost_batch_without_acks": 87,
    "producer_ids_are_not_reserved": 69,
    "revocation_is_not_requested": 8,
    "partition_is_assigned_before_it_is_free": 2,
    "unreadable_partition_is_reset": 810,
    "waiting_fetch_is_not_woken": 41,
    "memory_of_a_lost_connection_is_not_released": 113,
    "unreadable_partition_is_returned_as_empty": 76,
    "batch_overtakes_a_lost_first_batch": 93,
    "retention_does_not_see_deleted_records": 39,
    "generation_has_two_leaders": 51,
}


# The rarest fault needs almost all seeds, which takes long on a busy machine.
@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.__name__))
def test_a_fault_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    check_found(fault, range(SEEDS), monkeypatch)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", GROUPS, ids=lambda fault: str(fault.__name__))
def test_a_fault_of_groups_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    check_found(fault, SEEDS_WITH_GROUPS, monkeypatch)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", COMPACTION, ids=lambda fault: str(fault.__name__))
def test_a_fault_of_compaction_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    check_found(fault, SEEDS_WITH_COMPACTION, monkeypatch)


def check_found(fault: Callable[[Patch], None], seeds: Sequence[int], monkeypatch: Patch) -> None:
    fault(monkeypatch)
    name = fault.__name__
    found = first_failure([FIRST.get(name, seeds[0]), *seeds])
    assert found is not None
    print(f"{name}: seed {found.seed}: {found.failure}")
