"""Brokers are killed, stopped and restarted under load, at random and at named points."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.crash.broker import Nursery
from tests.crash.lives import random_life
from tests.crash.points import ENGINES, FLUSHES

LONG_LIVES = 70


@pytest.mark.timeout(240)
@pytest.mark.parametrize("flush", FLUSHES)
def test_acknowledged_data_survives_every_death(
    flush: str, nursery: Nursery, tmp_path: Path
) -> None:
    life = random_life(nursery, tmp_path, seed=1, flush=flush, deaths=8)
    assert life.batches > 0


@pytest.mark.timeout(240)
def test_acknowledged_data_survives_every_death_in_files(nursery: Nursery, tmp_path: Path) -> None:
    """With flush=interval, where files that are removed wait for a flush."""
    life = random_life(nursery, tmp_path, seed=1, flush="interval", deaths=8, engine="files")
    assert life.batches > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("flush", FLUSHES)
def test_thousands_of_deaths(flush: str, engine: str, nursery: Nursery, tmp_path: Path) -> None:
    """New seeds each time; OTTLA_TEST_SEED sets the first."""
    first = int(os.environ.get("OTTLA_TEST_SEED", "") or int.from_bytes(os.urandom(3), "big"))
    for seed in range(first, first + LONG_LIVES):
        folder = tmp_path / str(seed)
        random_life(nursery, folder, seed, flush, engine=engine)
        shutil.rmtree(folder)
