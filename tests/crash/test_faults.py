"""The ledger finds faults that are patched into the broker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.crash.broker import Nursery
from tests.crash.deaths import Death, at, killed_after
from tests.crash.faults import FAULTS
from tests.crash.life import Life
from tests.crash.lives import LifeFailed, live
from tests.crash.points import BY_NAME

#: Of responses, batches, producers, snapshots, topics and offsets one each; the rest with --long.
SHORT = (
    "responds_before_the_commit",
    "commits_batch_by_batch",
    "loses_producers_at_start",
    "leaves_producers_out_of_snapshots",
    "does_not_persist_deletions",
    "does_not_persist_offsets",
)

#: Found within so many lives of so many deaths. Whether a death shows a fault is chance: the rarest
#: shows in one death of six, so one life in forty ends without it.
LIVES, DEATHS = 6, 20

#: A broker that cannot run shows nothing. Which effect of a fault is noticed first is chance.
GOT_NOWHERE = re.compile(r"Broken: the broker did not start|\b(Attribute|Import|Name|Type)Error\b")


def death_of(name: str, life: Life) -> Death:
    return at(BY_NAME[name], life.chance) if name else killed_after(200, life.chance)


def live_with(fault: str, nursery: Nursery, folder: Path) -> None:
    _, points = FAULTS[fault]
    for seed in range(1, LIVES + 1):
        life = Life(nursery, folder / str(seed), seed, flush="os", fault=fault)
        live(life, [death_of(name, life) for name in (points * DEATHS)[:DEATHS]])


@pytest.mark.parametrize(
    "fault",
    [one if one in SHORT else pytest.param(one, marks=pytest.mark.long) for one in FAULTS],
)
def test_an_injected_fault_is_found(fault: str, nursery: Nursery, tmp_path: Path) -> None:
    with pytest.raises(LifeFailed, match="Broken: ") as found:
        live_with(fault, nursery, tmp_path)
    assert not GOT_NOWHERE.search(str(found.value))


def test_the_same_runs_pass_without_a_fault(nursery: Nursery, tmp_path: Path) -> None:
    points = dict.fromkeys(name for _, names in FAULTS.values() for name in names)
    life = Life(nursery, tmp_path, seed=1, flush="os")
    live(life, [death_of(name, life) for name in points])
    assert life.batches > 0
