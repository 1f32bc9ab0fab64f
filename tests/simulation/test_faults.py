"""Each of these faults is injected into the broker, and the simulation has to find it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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


# The rarest fault needs almost all seeds, which takes long on a busy machine.
@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.__name__))
def test_a_fault_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    fault(monkeypatch)
    found = first_failure(range(SEEDS))
    assert found is not None
    print(f"{fault.__name__}: seed {found.seed}: {found.failure}")


@pytest.mark.timeout(240)
@pytest.mark.parametrize("fault", GROUPS, ids=lambda fault: str(fault.__name__))
def test_a_fault_of_groups_is_found(fault: Callable[[Patch], None], monkeypatch: Patch) -> None:
    fault(monkeypatch)
    found = first_failure(SEEDS_WITH_GROUPS)
    assert found is not None
    print(f"{fault.__name__}: seed {found.seed}: {found.failure}")
