"""SIGKILL while offsets are committed: acknowledged offsets are durable, no commit is torn."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from application.ports.offset_repository import OffsetRow, OffsetWrite
from tests.contract.offset_engines import OFFSET_ENGINES
from tests.fakes.groups import committed

PARTITIONS = 6

#: Commits the same number for all partitions repeatedly, and prints durable ones.
_COMMITTER = """
import sys
from pathlib import Path
from tests.contract.offset_engines import OFFSET_ENGINES
from tests.contract.test_offset_repository_killed import commit

engine = OFFSET_ENGINES[sys.argv[1]](Path(sys.argv[2]))
number = max((row[3].offset for row in engine.rows()), default=0)
while True:
    number += 1
    assert engine.outcome(*commit(number)) is None
    print(number, flush=True)
"""


def commit(number: int) -> list[OffsetWrite]:
    return [("g", "t", partition, committed(number)) for partition in range(PARTITIONS)]


def commit_until_killed(script: str, kind: str, folder: Path, commits: int) -> int:
    """Returns the last acknowledged number."""
    with subprocess.Popen(
        [sys.executable, "-c", script, kind, str(folder)], stdout=subprocess.PIPE, text=True
    ) as committer:
        assert committer.stdout is not None
        for _ in range(commits):
            acknowledged = committer.stdout.readline()
        committer.kill()
        whole_lines = [acknowledged, *(one for one in committer.stdout if one.endswith("\n"))]
    return int(whole_lines[-1])


@pytest.mark.parametrize("kind", ["sqlite", "lmdb"])
def test_acknowledged_commits_survive_a_kill(kind: str, tmp_path: Path) -> None:
    chance = random.Random(kind)
    for _ in range(2):
        acknowledged = commit_until_killed(_COMMITTER, kind, tmp_path, chance.randint(1, 150))
        engine = OFFSET_ENGINES[kind](tmp_path)
        try:
            rows: list[OffsetRow] = engine.rows()
        finally:
            engine.close()
        found = {row[3].offset for row in rows}
        assert len(found) == 1, "a commit is torn"
        assert found <= {acknowledged, acknowledged + 1}
        assert [row[2] for row in rows] == list(range(PARTITIONS))
