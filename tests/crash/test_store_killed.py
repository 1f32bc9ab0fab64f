"""SIGKILL while a store is written: acknowledged data is there, and no pass is torn.

This does not show that fsync works: the page cache outlives a killed process. It shows that a
process may die at any moment of a commit.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from infrastructure.opening import open_storage
from infrastructure.storage.flush import Flush
from tests.contract.batches import batch
from tests.crash.points import ENGINES

PARTITIONS, SEGMENT_BATCHES = 3, 7

#: Each pass stages one batch in every partition and its number as a row, commits and reports it.
#: Sizes and contents follow from the offset.
_WRITER = """
import sys
from infrastructure.opening import open_storage
from tests.crash.test_store_killed import PARTITIONS, SEGMENT_BATCHES, batch_at

storage = open_storage(sys.argv[1], sys.argv[2])
start_flush = storage.start_flush or (lambda: None)
offset = int(storage.state.get("passes", b"next") or 0)
while True:
    for partition_id in range(PARTITIONS):
        begins = offset % SEGMENT_BATCHES == 0
        storage.log.append(partition_id, offset, batch_at(partition_id, offset), offset, begins)
    offset += 1
    storage.state.put("passes", b"next", b"%d" % offset)
    storage.commit.commit(lambda failure: print(offset if failure is None else failure, flush=True))
    start_flush()
"""


def batch_at(partition_id: int, offset: int) -> bytes:
    chance = random.Random(partition_id * 1_000_003 + offset)
    return batch(offset, chance.randbytes(chance.choice([70, 300, 3000, 40_000])))


def write_until_killed(url: str, flush: Flush, passes: int) -> int:
    """The passes that were acknowledged before the process died."""
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, url, flush], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for _ in range(passes):
            acknowledged = writer.stdout.readline()
        writer.kill()
        # An incomplete line is not an acknowledgement.
        whole_lines = [acknowledged, *(line for line in writer.stdout if line.endswith("\n"))]
    return int(whole_lines[-1])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("flush", ["commit", "interval", "os"])
def test_acknowledged_batches_survive_a_kill(tmp_path: Path, flush: Flush, engine: str) -> None:
    chance, url = random.Random(flush), f"{engine}://{tmp_path}"
    for _ in range(2):
        acknowledged = write_until_killed(url, flush, chance.randint(1, 150))

        storage = open_storage(url, flush)
        try:
            persisted = int(storage.state.get("passes", b"next") or 0)
            assert persisted in (acknowledged, acknowledged + 1)
            for partition_id in range(PARTITIONS):
                expected = b"".join(batch_at(partition_id, offset) for offset in range(persisted))
                assert storage.log.read(partition_id, 0, 1 << 62, 1 << 62, True) == expected
                assert storage.log.at_timestamp(partition_id, 1 << 62) == persisted
        finally:
            storage.commit.close()
