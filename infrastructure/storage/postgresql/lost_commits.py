"""LostCommits: the newest commits of this process, and their repetition in a database that has
lost them.

An asynchronous standby that is promoted may lack the last commits. If the session is still that of
this process, nothing else has changed what it leads: what is lost is committed again, in order, and
all that was acknowledged is true again. Not if other brokers have lost changes of shared rows.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.sending import sent
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.statement import composed, statement_of

#: Of batches; most of them are in the cache, too.
_MOST_BYTES = 64 << 20
_MOST_COMMITS = 10_000
_VERSION = "select version from ottla_store"


class _Commit(NamedTuple):
    seq: int
    #: None: what needs no repetition, as new tails and moved entries.
    staged: Staged | None
    size_bytes: int


class LostCommits:
    """For the thread of commits."""

    def __init__(self, contents: Contents, node_id: int) -> None:
        self._contents = contents
        self._node_id = node_id
        self._commits: deque[_Commit] = deque()
        self._size_bytes = 0
        #: How many were repeated since the start.
        self.repeated = 0

    def add(self, seq: int, staged: Staged | None) -> None:
        """A commit that was persisted."""
        size_bytes = 0
        if staged is not None:
            size_bytes = sum(len(one.data) for one in (*staged.added, *staged.replaced))
        self._commits.append(_Commit(seq, staged, size_bytes))
        self._size_bytes += size_bytes
        while self._size_bytes > _MOST_BYTES or len(self._commits) > _MOST_COMMITS:
            self._size_bytes -= self._commits.popleft().size_bytes

    def repeat(self, connection: Rows, fence: Fence, newest: int) -> str | None:
        """From the one of the fence up to this one: the new place of the fence. None: it cannot.

        Raises psycopg.Error: some of them may be persisted.
        """
        lost = [one for one in self._commits if one.seq > fence.seq]
        [(version,)] = connection.execute(_VERSION).fetchall()
        if len(lost) != newest - fence.seq or not self._leads_to_now(version, lost):
            return None
        ends = self._contents.go_back(connection, self._node_id)
        for commit in lost:
            place = self._repeat(connection, fence, commit, ends)
            if place is None:
                return None
            fence = fence._replace(seq=commit.seq, place=place)
        self.repeated += len(lost)
        return fence.place

    def _leads_to_now(self, version: int, lost: list[_Commit]) -> bool:
        """From that version of the shared rows."""
        newest = self._contents.version
        for _, staged, _ in lost:
            if staged is not None and staged.unregistered:
                return False
            if staged is not None and staged.changes_shared_rows:
                if staged.version != version:
                    return False
                version += 1
        # The loop may not know yet of the last one.
        return version >= newest

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
