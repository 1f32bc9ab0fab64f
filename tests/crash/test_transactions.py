"""Consume, transform, produce while broker and copiers are killed: each record has one copy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.broker import Nursery
from tests.crash.chain import Chain
from tests.crash.ledger import Broken
from tests.crash.transaction_faults import TRANSACTION_FAULTS

LIVES, LONG_LIVES = 9, 60


def copy(chain: Chain, lives: int) -> None:
    """Raises with all that is needed to see what happened."""
    try:
        problems = chain.run(lives)
    except (Broken, AssertionError) as failure:
        problems = [f"{type(failure).__name__}: {failure}"]
    assert not problems, f"seed {chain.seed}, {chain.events}\n" + "\n".join(problems[:20])


def test_each_record_is_copied_once(nursery: Nursery, tmp_path: Path) -> None:
    copy(Chain(nursery, tmp_path, seed=1), LIVES)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("offsets", ["", "sqlite://"])
def test_each_record_is_copied_once_for_a_minute(
    offsets: str, nursery: Nursery, tmp_path: Path
) -> None:
    seed = int(os.environ.get("OTTLA_TEST_SEED", "") or int.from_bytes(os.urandom(3), "big"))
    copy(Chain(nursery, tmp_path, seed, offsets=offsets), LONG_LIVES)


#: The rest with --long.
SHORT = ("does_not_index_aborted_transactions",)


@pytest.mark.parametrize(
    "fault",
    [
        one if one in SHORT else pytest.param(one, marks=pytest.mark.long)
        for one in TRANSACTION_FAULTS
    ],
)
def test_an_injected_fault_is_found(fault: str, nursery: Nursery, tmp_path: Path) -> None:
    seeds = range(1, 4)
    found = [Chain(nursery, tmp_path / str(seed), seed, fault).run(4) for seed in seeds]
    assert any(found)
