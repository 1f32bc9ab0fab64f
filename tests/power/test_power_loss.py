"""Replays power cuts over recorded runs: what each flush policy promises is there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.power.judge import ALLOWED
from tests.power.recording import (
    PASSES,
    ROOT,
    compiler,
    read_trace,
    record_workload,
    recorded_in,
)

#: Cuts of each recorded run.
CUTS = 20

pytestmark = [
    pytest.mark.skipif(
        compiler() is None or sys.platform != "linux",
        reason="needs Linux and a C compiler (cc or gcc)",
    ),
    pytest.mark.timeout(300),
]


ENGINES = "lmdb", "files"
POLICIES = "commit", "interval", "os"


@pytest.fixture(
    scope="module", params=[f"{engine}-{flush}" for engine in ENGINES for flush in POLICIES]
)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    engine, flush = request.param.split("-")
    return run_and_record(tmp_path_factory.mktemp(request.param), engine, flush, seed=1)


def run_and_record(folder: Path, engine: str, flush: str, seed: int, passes: int = PASSES) -> Path:
    record_workload(folder, engine, flush, seed, passes)
    return folder


def cuts(folder: Path, first: int, count: int, *options: str) -> list[dict[str, Any]]:
    replayed = subprocess.run(
        [
            *(sys.executable, "-m", "tests.power", "replay", str(folder)),
            *("--from", str(first), "--seeds", str(count), *options),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    *lines, summary = replayed.stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert len(found) == count
    assert summary.startswith(f"{count} cuts: {outcomes(found)['intact']} intact")
    assert replayed.returncode == (0 if summary.endswith(" 0 not allowed") else 1)
    return found


def outcomes(found: list[dict[str, Any]]) -> Counter[str]:
    return Counter(cut["outcome"] for cut in found)


def test_a_power_cut_loses_no_more_than_the_flush_policy_allows(recorded: Path) -> None:
    found, (_, flush) = cuts(recorded, 0, CUTS), recorded_in(recorded)

    assert [cut for cut in found if cut["outcome"] not in ALLOWED[flush]] == []
    # The power cuts must lose something.
    assert flush == "commit" or outcomes(found)["tail"] > CUTS / 10


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("flush", ["commit", pytest.param("interval", marks=pytest.mark.long)])
def test_a_store_without_its_syncs_is_found(engine: str, flush: str, tmp_path: Path) -> None:
    found = cuts(run_and_record(tmp_path, engine, flush, seed=2, passes=40), 0, 12, "--unsynced")

    assert [cut for cut in found if cut["outcome"] not in ALLOWED[flush]] != []


def test_a_cut_is_drawn_by_its_seed_alone(tmp_path: Path) -> None:
    folder = run_and_record(tmp_path, "files", "os", seed=3, passes=40)

    together = cuts(folder, 0, 6)
    alone = [cuts(folder, cut["seed"], 1)[0] for cut in together[:2]]

    assert alone == together[:2]


def test_syncs_follow_the_flush_policy(recorded: Path) -> None:
    events, (engine, flush) = list(read_trace(recorded / "trace")), recorded_in(recorded)

    commits = sum(event.kind == "M" and b'"acked"' in event.data for event in events)
    # Compaction syncs its files with every policy.
    syncs = sum(
        event.kind == ("s" if engine == "lmdb" or flush == "commit" else "f") for event in events
    )
    most = 60 if engine == "lmdb" else PASSES
    assert commits == PASSES
    assert {"commit": syncs >= PASSES, "interval": 10 < syncs < most, "os": syncs < 15}[flush], (
        syncs
    )


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("flush", POLICIES)
@pytest.mark.parametrize("engine", ENGINES)
def test_thousands_of_power_cuts(engine: str, flush: str, tmp_path: Path) -> None:
    total: Counter[str] = Counter()
    for seed in range(10, 20):
        folder = run_and_record(tmp_path / str(seed), engine, flush, seed)
        found = cuts(folder, 1000 * seed, 1000)
        assert [cut for cut in found if cut["outcome"] not in ALLOWED[flush]] == []
        total += outcomes(found)
    print(f"{engine}, flush={flush}: {dict(total)}")
