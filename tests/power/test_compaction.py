"""Power cuts during `ottla storage compact`."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import pytest

from infrastructure.opening import open_storage
from infrastructure.storage.lmdb.folder import LmdbFolder
from tests.fakes.machine import restart_machine
from tests.power.compaction import ROWS
from tests.power.disk import Disk, with_ends_of_synced_writes
from tests.power.recording import build_recorder, compiler, read_trace, record

pytestmark = [
    pytest.mark.skipif(
        compiler() is None or sys.platform != "linux",
        reason="needs Linux and a C compiler (cc or gcc)",
    ),
    pytest.mark.long,
]


def test_a_power_cut_during_a_compaction_leaves_one_whole_store(tmp_path: Path) -> None:
    trace = record(build_recorder(tmp_path), tmp_path, "tests.power.compaction", [])
    events = with_ends_of_synced_writes(read_trace(trace))
    [filled] = [at for at, event in enumerate(events) if event.kind == "M"]
    disk, at = Disk(str(tmp_path / "disk")), 0
    sizes = set()
    for moment in [n for n in range(filled, len(events) + 1) for _ in range(10)]:
        for event in events[at:moment]:
            disk.apply(event)
        at = moment
        cut = tmp_path / "cut"
        disk.cut(cut, random.Random(f"{moment} {len(sizes)}"))
        restart_machine(cut / "data")
        assert LmdbFolder(cut / "data").check_pages() is None
        sizes.add((cut / "data" / "data.mdb").stat().st_size)
        storage = open_storage(f"lmdb://{cut}/data", "commit")
        found = [storage.state.get("rows", b"%d" % number) for number in range(2 * ROWS)]
        assert found == [bytes([n]) * 3000 if n < ROWS else None for n in range(2 * ROWS)]
        storage.commit.close()
        shutil.rmtree(cut)
    assert len(sizes) == 2
