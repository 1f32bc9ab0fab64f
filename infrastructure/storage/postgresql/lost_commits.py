"""LostCommits: the newest commits of this process, and their repetition in a database that has
lost them.

An asynchronous standby that is promoted may lack the last commits. If the session is still that of
this process, nothing else has changed what it leads: what is lost is committed again, in order, and
all that was acknowledged is true again. Only if all that brokers share is as it was, or newer:
leaders, topics, markers. What others have lost of these may not come back, or come back later.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from infrastructure.storage.postgresql import shared_rows
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.fence import ALONE, Fence
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.sending import sent
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.shared_rows import Row
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.statement import composed, statement_of
from infrastructure.storage.repositories.leader_rows import LEADERS

#: Of batches; most of them are in the cache, too.
_MOST_BYTES = 64 << 20
_MOST_COMMITS = 10_000
#: Of a row, beside its key and value; of an entry, beside its batches and times; and of one that is
#: freed or removed. As measured: deleted topics have millions.
_ROW_BYTES = 300
_ENTRY_BYTES = 200
_FREED_BYTES = 150


class _Commit(NamedTuple):
    seq: int
    #: None: what needs no repetition, as new tails and moved entries.
    staged: Staged | None
    #: Of its batches.
    size_bytes: int
    #: In memory.
    taken_bytes: int
    #: How often the broker had lost partitions.
    losses: int


class LostCommits:
    """For what commits: the thread, or the loop while the thread does nothing."""

    def __init__(self, contents: Contents, node_id: int) -> None:
        self._contents = contents
        self._node_id = node_id
        self._commits: deque[_Commit] = deque()
        self._taken_bytes = 0
        #: How many were repeated since the start.
        self.repeated = 0

    def add(self, seq: int, staged: Staged | None = None, size_bytes: int = 0) -> None:
        """A commit that was persisted, with so many bytes of batches."""
        taken_bytes = size_bytes + (0 if staged is None else _taken_by(staged))
        losses = self._contents.losses
        self._commits.append(_Commit(seq, staged, size_bytes, taken_bytes, losses))
        self._taken_bytes += taken_bytes
        while self._taken_bytes > _MOST_BYTES or len(self._commits) > _MOST_COMMITS:
            self._taken_bytes -= self._commits.popleft().taken_bytes

    def repeat(self, connection: Rows, fence: Fence, newest: int) -> str | None:
        """From the one of the fence up to this one: the new place of the fence. None: it cannot.

        Raises psycopg.Error: some of them may be persisted.
        """
        lost = [one for one in self._commits if one.seq > fence.seq]
        if len(lost) != newest - fence.seq:
            return None
        if self._node_id != ALONE and not self._is_own(connection, lost):
            return None
        ends = self._contents.go_back(connection, self._node_id)
        for commit in lost:
            place = self._repeat(connection, fence, commit, ends)
            if place is None:
                return None
            fence = fence._replace(seq=commit.seq, place=place)
        self.repeated += len(lost)
        return fence.place

    def lacks_shared(self, connection: Rows) -> bool:
        """Nothing may be committed: other brokers may lead partitions of this one.

        Raises psycopg.Error.
        """
        return self._node_id != ALONE and self._newer(connection) is None

    def _is_own(self, connection: Rows, lost: list[_Commit]) -> bool:
        """Nothing that brokers share was lost, and no partition has another leader since."""
        changed = (one.staged for one in lost if one.staged is not None)
        if any(one.changes_what_is_shared for one in changed):
            return False
        if any(one.losses != self._contents.losses for one in lost):
            return False
        newer = self._newer(connection)
        if newer is None:
            return False
        leaders = [(row.key, row.value) for row in newer if row.table == LEADERS]
        return not self._contents.lost_by(leaders)

    def _newer(self, connection: Rows) -> list[Row] | None:
        known = self._contents.known_rows()  # first: what is read may be newer, and not older
        return known.newer(shared_rows.shared(connection, also_deleted=True))

    def _repeat(
        self, connection: Rows, fence: Fence, commit: _Commit, ends: dict[int, int]
    ) -> str | None:
        contents, staged = self._contents, commit.staged
        plan = Plan(contents.runs, ends, contents.tails.current)
        if staged is None:
            return sent(connection, *composed({}, plan.tail, fence))
        plan.take(staged)
        place = sent(connection, *statement_of(staged, plan, fence))
        if place is not None:
            staged.shorten(ends)
            for entry in staged.added:
                ends[entry.partition_id] = entry.last_offset + 1
            contents.planned(plan, commit.size_bytes)
        return place


def _taken_by(staged: Staged) -> int:
    """Beside its batches. Rows of a group may have the metadata of hundreds of members."""
    rows = sum(_ROW_BYTES + len(key) + len(value or b"") for (_, key), value in staged.rows.items())
    entries = sum(_ENTRY_BYTES + len(one.times) for one in (*staged.added, *staged.replaced))
    return rows + entries + _FREED_BYTES * (len(staged.freed) + len(staged.removed))
