"""SharedCommit: a commit of one of several brokers.

It fails if the session of the broker has ended, or if changes were staged before it came back.
Its response may be lost: the broker learns the outcome later, whatever has happened meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import StorageFailed
from infrastructure.storage.postgresql.fence import Fence
from tests.fakes.commit import Done, FakeCommit
from tests.fakes.database import (
    Database,
    KnownContents,
    RepeatedCommits,
    StagedChanges,
    changes_shared_rows,
)
from tests.fakes.membership import FakeMembership
from tests.fakes.store_view import StoreView

FENCED = "another broker has ended the session of this one"
CHANGED_MEANWHILE = "a standby was promoted"
LOST = "the database has lost commits"


class SharedCommit(FakeCommit):
    def __init__(self, view: StoreView, database: Database, membership: FakeMembership) -> None:
        super().__init__(view)
        self._view = view
        self._database = database
        self._membership = membership
        self._node_id = membership.node_id
        #: Changes of an ended session are staged, or in the commit under way.
        self._is_void = False
        membership.when_new_session = self._new_session
        #: The commit with which the right to change shared rows ends.
        self.ends_right = 0
        #: On which changes of shared rows are decided; and those of the commit under way.
        self.timeline = self._held_timeline = database.timeline
        self._held_rows: dict[tuple[str, bytes], bytes | None] = {}
        #: The commit under way is persisted.
        self._is_persisted = False
        #: The commit under way is refused, which the broker does not know yet.
        self._refused: StorageFailed | None = None
        self._seq = database.seqs.get(self._node_id, 0)
        self._sessions: set[int] = set()
        self._contents = KnownContents(database, self._node_id)
        self.lost_commits = RepeatedCommits(database, self._contents, self._node_id)
        #: The database may be another one.
        self.is_to_check = False
        #: This process commits nothing any more.
        self.is_over = False
        #: With how many commits it has repeated.
        self.when_goes_on: Callable[[int], None] = lambda repeated: None

    @property
    def is_answered(self) -> bool:
        """The outcome of the commit under way is not open."""
        return self._is_persisted or self._refused is not None

    def commit(self, done: Done, waits: bool = False) -> None:
        number = self.count + 1
        self._held_rows, self._view.staged_rows = self._view.staged_rows, {}
        self._held_timeline = self.timeline

        def ended(failure: StorageFailed | None) -> None:
            if self.ends_right == number or failure is not None:
                self._view.shared.release(self._view)
            if not self._view.is_over:
                done(failure)

        super().commit(ended, waits)

    def lose_response(self) -> None:
        """The commit under way is persisted, or refused: `let_go` says which."""
        self._check()
        self._refused = self._refusal()
        if self._refused is None:
            self._send()

    def _finish(self, failure: StorageFailed | None) -> None:
        self._check()
        refused, self._refused = self._refused, None
        if self._is_persisted:
            failure = None
        else:
            failure = refused or self._refusal() or failure
        # What was staged since would be committed in the new session.
        self._is_void = self._is_void and failure is None and bool(self._view.staged)
        super()._finish(failure)
        if self._view.news:
            self._view.wake()

    def _send(self) -> None:
        self._is_persisted = True
        super()._persist()
        self._database.committed(self._node_id, self._held_rows)
        self._view.publish()
        self._membership.committed()

    def _persist(self) -> None:
        if not self._is_persisted:
            self._send()
        self._is_persisted = False
        self._seq += 1
        staged = self._staged()
        self.lost_commits.add(self._seq, staged)
        if staged.rows:
            self._contents.own(staged)
        self._held_rows = {}

    def _send_again(self) -> None:
        """It was persisted, and is lost."""
        self._is_persisted = False
        for partition_id, length in self._held_lengths.items():
            self._view.lengthen(partition_id, length)
        for partition_id, count in self._held_drops.items():
            self._view.staged_drops[partition_id] += count

    def _staged(self) -> StagedChanges:
        return StagedChanges(self._contents.version, self._held_changes, self._held_rows)

    def _refusal(self) -> StorageFailed | None:
        if self.is_over or self.is_to_check:
            return StorageFailed(LOST)
        if self._session_has_ended():
            return StorageFailed(FENCED)
        if changes_shared_rows(self._held_rows) and (
            self._held_timeline != self._database.timeline
            or self._contents.version != self._database.version
        ):
            return StorageFailed(CHANGED_MEANWHILE)
        return None

    def _session_has_ended(self) -> bool:
        """Also that in which something of the commit was staged."""
        return self._is_void or not self._database.members.has_session(self._node_id)

    def _new_session(self) -> None:
        self._is_void = self.under_way or bool(self._view.staged)

    # ---- what others change, and what the database has lost

    def learn(self) -> None:
        self._check()
        # Otherwise after the outcome of its own change, which was decided on what it knew.
        if not self.is_over and not self._changes_shared:
            self._contents.learn()
            self._view.learn()

    def may_change(self) -> None:
        """This broker has the right to change shared rows."""
        if not changes_shared_rows(self._view.staged_rows):
            self.timeline = self._database.timeline

    @property
    def _changes_shared(self) -> bool:
        return changes_shared_rows(self._view.staged_rows) or (
            self.under_way and changes_shared_rows(self._held_rows)
        )

    def note_session(self) -> None:
        """A database of this moment knows it."""
        session = self._database.members.session_id(self._node_id)
        if session and not self.is_to_check and not self.is_over:
            self._sessions.add(session)

    def _check(self) -> None:
        """As a session of PostgreSQL with its next connection."""
        if not self.is_to_check or self._view.is_over:
            return
        self.is_to_check = False
        before = self.lost_commits.repeated
        session = self._database.members.session_id(self._node_id)
        found = self._database.seqs.get(self._node_id, 0)
        is_known = session in self._sessions
        if self._is_persisted and not ((is_known or not session) and found == self._seq + 1):
            self._send_again()
        if self.is_over or not is_known or not self._goes_on(found, session):
            self.is_over = True
            return
        self._view.publish()
        self.when_goes_on(self.lost_commits.repeated - before)

    def _goes_on(self, found: int, session: int) -> bool:
        # Without a connection: nothing is asked by SQL.
        if self.lost_commits.lacks_shared(None):  # type: ignore[arg-type]
            return False
        self._view.look()
        if self._is_persisted or found == self._seq:
            return True
        fence = Fence(self._node_id, session, found, "")
        repeat = self.lost_commits.repeat
        return found < self._seq and repeat(None, fence, self._seq) is not None  # type: ignore[arg-type]
