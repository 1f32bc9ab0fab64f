"""Writer: what changes the store, one thing after the other: commits, new tails, and entries that
are moved into the current tail, or are in an object from now on.

All of it is fenced by the session, and numbered as commits are, so that a lost connection is
resolved alike. A statement is derived again when it is sent again: neither the current tail nor the
runs have changed meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from domain.errors import StorageFailed
from infrastructure.storage.postgresql.contents import NOTHING_GAINED, Contents
from infrastructure.storage.postgresql.fence import FENCE, Fence, fence_parameters
from infrastructure.storage.postgresql.lost_commits import LostCommits
from infrastructure.storage.postgresql.moving import Move
from infrastructure.storage.postgresql.object_commits import ObjectCommits
from infrastructure.storage.postgresql.object_entries import NewObject
from infrastructure.storage.postgresql.object_rows import give_up
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.seal import Seal
from infrastructure.storage.postgresql.sending import sent
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.shared_rows import Gained, Row
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.statement import composed, statement_of
from infrastructure.storage.postgresql.tables import make_tail
from infrastructure.storage.postgresql.tails import TailRow
from infrastructure.storage.repositories.leader_rows import LEADERS
from infrastructure.storage.repositories.topic_repository import TOPICS

_NEW_TAIL = f"""
    with {FENCE},
    filled as (update ottla_tails t set written = %b from fence where t.n = fence.tail)
    insert into ottla_tails (written) select 0 from fence returning n
"""


_CURRENT = "update ottla_fences set tail = %s where node_id = %s returning ctid::text"


class Upkeep(Enum):
    NEW_TAIL = 1
    MOVE = 2
    CHECK = 3


class Sent(NamedTuple):
    """A commit that was sent, and what came of it: whether it is persisted is not known."""

    staged: Staged
    plan: Plan
    problem: Exception


Work = Staged | Sent | Upkeep | NewObject
Outcome = StorageFailed | Gained


class _Commit:
    def __init__(
        self,
        staged: Staged,
        new_plan: Callable[[int | None], Plan],
        objects: ObjectCommits | None,
        sent_plan: Plan | None = None,
    ) -> None:
        """`objects`: its batches are to go into an object; `sent_plan`: it was sent with this."""
        self._staged = staged
        self._new_plan = new_plan
        self._objects = objects
        #: That has the batches.
        self.object: NewObject | None = None
        self.plan = sent_plan or new_plan(None)

    def execute(self, connection: Rows, fence: Fence) -> str | None:
        if self.object is not None:
            # Under this session another broker may take it for forgotten, and delete it.
            give_up(connection, [self.object.number])
            self.object = None
        if self._objects is not None:
            objects, self._objects = self._objects, None
            self.object = objects.written(connection, fence.session, self._staged)
        self.plan = self._new_plan(None if self.object is None else self.object.number)
        self.plan.take(self._staged)
        return sent(connection, *statement_of(self._staged, self.plan, fence, self.object))


class _Nothing:
    """Finds out whether the database has all commits."""

    def execute(self, connection: Rows, fence: Fence) -> str | None:
        return sent(connection, *composed({}, 0, fence))


class _NewTail:
    def __init__(self, written_bytes: int) -> None:
        self._written_bytes = written_bytes
        self.number = 0

    def execute(self, connection: Rows, fence: Fence) -> str | None:
        with connection.transaction():
            values: list[Any] = [*fence_parameters(fence), self._written_bytes]
            found = connection.execute(_NEW_TAIL, values).fetchall()
            if not found:
                return None
            [(self.number,)] = found
            make_tail(connection, self.number)
            [(place,)] = connection.execute(_CURRENT, (self.number, fence.node_id)).fetchall()
        return str(place)


def leader_rows(staged: Staged) -> list[Row]:
    """By which the broker may lead more, of which it has to read what it does not know then."""
    # Those of the internal topics say whose groups are gained, too.
    return [
        Row(table, key, value)
        for table in (TOPICS, LEADERS)
        for key, value in staged.of_table(table)
    ]


class Writer:
    """In one thread after the other."""

    def __init__(
        self, session: Session, contents: Contents, objects: ObjectCommits | None = None
    ) -> None:
        """`objects`: large commits write them."""
        self._session = session
        self._contents = contents
        self._objects = objects
        self._lock = threading.Lock()
        self.lost_commits = LostCommits(contents, session.node_id)
        session.repeat = self.lost_commits.repeat
        session.lacks_shared = self.lost_commits.lacks_shared
        self._upkeep = {
            Upkeep.NEW_TAIL: self._begin_tail,
            Upkeep.MOVE: self._move,
            Upkeep.CHECK: self._check,
        }

    def do(self, work: Work) -> Outcome:
        """What is gained: persisted. A failure: nothing of it is, nor will be, unless the session
        ended.
        """
        with self._lock:
            try:
                if isinstance(work, Sent):
                    return self._commit(*work)
                return self._commit(work) if isinstance(work, Staged) else self._keep_up(work)
            except Exception as fault:  # what is in memory may not be what is in the database
                return self._session.fail(fault)
            finally:
                self.ended()

    def ended(self) -> None:
        """What was under way: its outcome is known."""
        self._contents.under_way = None

    def due(self, moves: bool) -> Upkeep | None:
        """What is to be done behind a commit. From any thread."""
        if self._contents.tails.is_full:
            return Upkeep.NEW_TAIL
        return Upkeep.MOVE if moves and self._contents.tails.sparse is not None else None

    def _plan(self, tail: int | None = None) -> Plan:
        contents = self._contents
        into = contents.tails.current if tail is None else tail
        contents.under_way = plan = Plan(contents.runs, contents.ends, into)
        return plan

    def plan_of(self, staged: Staged) -> Plan:
        plan = self._plan()
        plan.take(staged)
        return plan

    def _commit(
        self, staged: Staged, plan: Plan | None = None, sent: Exception | None = None
    ) -> Outcome:
        objects = self._objects
        if objects is not None and not objects.takes(staged):
            objects = None
        commit = _Commit(staged, self._plan, objects, plan)
        failure = self._session.commit(commit, sent=sent)
        if failure is not None:
            if commit.object is not None and objects is not None:
                objects.given_up.append(commit.object.number)
            return failure
        return self._persisted(staged, commit.plan, commit.object)

    def persisted(self, staged: Staged, plan: Plan) -> Outcome:
        """Of a commit that was sent elsewhere."""
        try:
            return self._persisted(staged, plan)
        except Exception as fault:  # what is in memory may not be what is in the database
            return self._session.fail(fault)
        finally:
            self.ended()

    def _persisted(self, staged: Staged, plan: Plan, new: NewObject | None = None) -> Outcome:
        batch_bytes = staged.batch_bytes
        self.lost_commits.add(self._session.seq, staged, batch_bytes)
        # Their next leader may change them from now on.
        for partition_id in self._contents.lost_by(staged.of_table(LEADERS)):
            plan.new_runs[partition_id] = ()
        if new is None:
            self._contents.planned(plan, batch_bytes)
        else:
            self._sealed(new, plan)
        rows = leader_rows(staged)
        return self._session.gained(self._contents, rows) if rows else NOTHING_GAINED

    def _keep_up(self, work: NewObject | Upkeep) -> Outcome:
        before = self._session.seq
        failure = self._seal(work) if isinstance(work, NewObject) else self._upkeep[work]()
        if self._session.seq != before:  # there was something to do
            self.lost_commits.add(self._session.seq)
        return NOTHING_GAINED if failure is None else failure

    def _begin_tail(self) -> StorageFailed | None:
        new = _NewTail(self._contents.tails.written_bytes)
        failure = self._session.commit(new, patience_s=0)
        if failure is None:
            self._contents.tails.begin(new.number)
        return failure

    def _move(self) -> StorageFailed | None:
        sparse = self._contents.tails.sparse
        if sparse is None:
            return None
        runs = self._contents.runs.all_in(sparse)
        if not runs:  # others lead these logs now, and may have dropped it
            self._contents.tails.sparse = None
            return None
        move = Move(sparse, runs, self._plan)
        failure = self._session.commit(move, patience_s=0)
        if failure is None:
            self._contents.planned(move.plan, move.size_bytes)
        return failure

    def _check(self) -> StorageFailed | None:
        return self._session.commit(_Nothing(), patience_s=0)

    def _seal(self, new: NewObject) -> StorageFailed | None:
        seal = Seal(new, self._plan, lambda: self._contents.losses)
        failure = self._session.commit(seal, patience_s=0)
        if failure is None:
            self._sealed(new, seal.plan, seal.dead_bytes)
        return failure

    def _sealed(self, new: NewObject, plan: Plan, dead_bytes: int = 0) -> None:
        tails = self._contents.tails
        is_joined = bool(new.parts)
        tails.add_object(TailRow(new.number, new.size_bytes, dead_bytes, new.name), is_joined)
        self._contents.planned(plan, 0)
        tails.sealed(is_looked_for=is_joined)
