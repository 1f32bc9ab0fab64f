"""What tests of tiny tails share."""

from __future__ import annotations

import pytest

from infrastructure.storage.postgresql import commit, dropping, moving, tails

#: Below the size of any entry: each commit has a tail of its own.
TINY = 1
#: It has one response.
OF_THE_COMMIT = 1

later = pytest.mark.parametrize("relayed", ["later"], indirect=True)


def keep_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is dead by half is moved, one entry at a time; what failed is tried again."""
    monkeypatch.setattr(tails, "_DEAD_TAILS", 0)
    monkeypatch.setattr(moving, "MOVED_BYTES", 1)
    monkeypatch.setattr(dropping, "RETRY_S", 0)
    monkeypatch.setattr(commit, "RETRY_S", 0)
