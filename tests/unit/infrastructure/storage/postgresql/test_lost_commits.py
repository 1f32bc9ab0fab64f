"""How many commits are remembered."""

from __future__ import annotations

import pytest

from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.entries import Entry
from infrastructure.storage.postgresql.fence import ALONE
from infrastructure.storage.postgresql.lost_commits import LostCommits
from infrastructure.storage.postgresql.staged import Rewritten, Staged

SIZES = [(offset, 1000) for offset in range(256)]


def trimmed() -> Staged:
    """256 entries, as of a topic that is deleted."""
    staged = Staged()
    staged.trim(7, 255, SIZES)
    return staged


def emptied() -> Staged:
    """By compaction."""
    staged = Staged()
    staged.rewrite(Rewritten(7, 0, 255, 0), [], SIZES)
    return staged


def small_entries() -> Staged:
    """Of many logs."""
    staged = Staged()
    staged.added += [Entry(number, 0, b"t" * 16, b"", b"") for number in range(256)]
    return staged


@pytest.mark.parametrize(
    "staged, measured_bytes",
    [(trimmed(), 256 * 145), (emptied(), 256 * 209), (small_entries(), 256 * 202)],
)
def test_what_has_few_or_no_batches_takes_memory_too(staged: Staged, measured_bytes: int) -> None:
    lost = LostCommits(Contents(), ALONE)
    for seq in range(10_000):
        lost.add(seq, staged, staged.batch_bytes)
    assert 0 < len(lost._commits) * measured_bytes <= 64 << 20
