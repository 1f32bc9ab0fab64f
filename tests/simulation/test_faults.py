"""The simulation finds bugs: each of these is put into the broker, and has to be found."""

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

#: Each fault is to be found by one of so many seeds.
SEEDS = 200

Patch = pytest.MonkeyPatch
FAULTS = SERVING + TOPICS + LOG + STARTS
#: Those of groups show where there are groups, and some of them rarely.
SEEDS_WITH_GROUPS = [seed for seed in range(300) if has_groups(seed)]


# On a busy machine, the two hundred seeds that the rarest of them may need take their time.
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
