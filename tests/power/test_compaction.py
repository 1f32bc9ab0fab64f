"""Power cuts during `ottla storage compact`, and while compaction rewrites segments."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import pytest

from infrastructure.opening import folder_of, open_storage
from infrastructure.storage.flush import Flush
from tests.fakes.machine import restart_machine
from tests.power.compaction import ROWS
from tests.power.disk import Disk, with_ends_of_synced_writes
from tests.power.recording import build_recorder, compiler, read_trace, record
from tests.power.rewriting import ID, STATES

pytestmark = pytest.mark.skipif(
    compiler() is None or sys.platform != "linux",
    reason="needs Linux and a C compiler (cc or gcc)",
)


@pytest.mark.long
@pytest.mark.parametrize("engine", ["lmdb", "files"])
def test_a_power_cut_during_a_compaction_leaves_one_whole_store(
    tmp_path: Path, engine: str
) -> None:
    trace = record(build_recorder(tmp_path), tmp_path, "tests.power.compaction", [engine])
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
        assert folder_of(f"{engine}://{cut}/data").check_pages() is None
        sizes.add((cut / "data" / "data.mdb").stat().st_size)
        storage = open_storage(f"{engine}://{cut}/data", "commit")
        found = [storage.state.get("rows", b"%d" % number) for number in range(2 * ROWS)]
        assert found == [bytes([n]) * 3000 if n < ROWS else None for n in range(2 * ROWS)]
        storage.commit.close()
        shutil.rmtree(cut)
    assert len(sizes) == 2


@pytest.mark.parametrize("flush", ["commit", "interval"])
def test_a_power_cut_while_segments_are_rewritten_leaves_a_log_as_of_a_commit(
    tmp_path: Path, flush: Flush
) -> None:
    trace = record(build_recorder(tmp_path), tmp_path, "tests.power.rewriting", [flush])
    events = with_ends_of_synced_writes(read_trace(trace))
    begin = next(at for at, event in enumerate(events) if event.kind == "M")
    disk, at, committed, durable = Disk(str(tmp_path / "disk")), 0, -1, 0
    found = set()
    for moment in range(begin + 1, len(events)):
        for event in events[at:moment]:
            disk.apply(event)
            committed += event.kind == "M" and event.data == b"committed"
            durable = committed if event.data == b"flushed" else durable
        at = moment
        cut = tmp_path / "cut"
        disk.cut(cut, random.Random(moment))
        restart_machine(cut / "data")
        storage = open_storage(f"files://{cut}/data", flush)
        data = storage.log.read(ID, 0, 1 << 62, 1 << 30, True)
        storage.commit.close()
        state = STATES.index(data)
        assert state >= (committed if flush == "commit" else durable), moment
        assert state <= committed + 1
        found.add(state)
        shutil.rmtree(cut)
    assert len(found) > len(STATES) / 2
