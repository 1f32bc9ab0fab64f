"""PostgresCommit: each pass is one statement, sent by the event loop, or by a thread that waits.

Between commits the thread begins a new tail when one is full, moves entries of tails that are
mostly dead, and seals objects that another thread has written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from domain.errors import StorageFailed
from infrastructure.storage.engine import Sockets, ToLoop
from infrastructure.storage.errors import closed_during_a_commit, store_closed
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.copies import PostgresCopies
from infrastructure.storage.postgresql.dropping import Dropping
from infrastructure.storage.postgresql.garbage import Garbage
from infrastructure.storage.postgresql.link import CLOSE_S
from infrastructure.storage.postgresql.loop_commits import LoopCommits
from infrastructure.storage.postgresql.object_commits import ObjectCommits
from infrastructure.storage.postgresql.object_entries import NewObject
from infrastructure.storage.postgresql.reading import Reading
from infrastructure.storage.postgresql.retry_pause import RETRY_S
from infrastructure.storage.postgresql.sealing import Sealing
from infrastructure.storage.postgresql.server import Server
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.watch import Watch
from infrastructure.storage.postgresql.writer import Outcome, Sent, Upkeep, Work, Writer

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

Done = Callable[[StorageFailed | None], None]

#: Of a store that is never idle: commits between two moves.
_COMMITS_A_MOVE = 100


class PostgresCommit:
    __slots__ = (
        "_behind", "_closed", "_commits", "_contents", "_copies", "_done", "_dropping",
        "_in_thread", "_is_checked", "_is_kept_up", "_is_to_check", "_loop_commits",
        "_not_before_s", "_object_commits", "_reading", "_sealing", "_session", "_thread", "_watch",
        "_writer",
    )  # fmt: skip

    def __init__(
        self,
        server: Server,
        session: Session,
        contents: Contents,
        reading: Reading,
        to_loop: ToLoop | None,
        watch: Watch | None = None,
        bucket: Bucket | None = None,
        copies: PostgresCopies | None = None,
        commits_to_objects: bool = False,
    ) -> None:
        self._watch = watch
        self._copies = copies
        self._session = session
        self._contents = contents
        self._reading = reading
        self._object_commits: ObjectCommits | None = None
        # Without a thread the caller would wait for the bucket.
        if commits_to_objects and bucket is not None and to_loop is not None:
            self._object_commits = ObjectCommits(bucket)
        self._writer = Writer(session, contents, self._object_commits)
        self._done: Done | None = None
        self._closed = False
        #: Since the last move.
        self._commits = 0
        #: By the thread, now.
        self._is_kept_up = self._is_checked = False
        #: The last check has failed.
        self._is_to_check = False
        self._not_before_s = 0.0
        self._thread: LoadingThread[Work, Outcome] | None = None
        #: What was put there, and has not ended.
        self._in_thread = 0
        self._loop_commits: LoopCommits | None = None
        #: For the thread, when the commit that the loop has sent has ended.
        self._behind: list[Work] = []
        self._dropping: Dropping | None = None
        self._sealing: Sealing | None = None
        if to_loop is not None:
            self._thread = LoadingThread(self._writer.do, self._did, to_loop, "ottla-commits")
            garbage = None if bucket is None else Garbage(bucket)
            self._dropping = Dropping(server, session, contents.tails, to_loop, garbage)
            if watch is not None:
                watch.connected_again = self._check
            else:
                reading.lacks_commits = partial(to_loop, self._check)
            if bucket is not None:
                self._sealing = Sealing(server, session, contents, bucket, self._put, to_loop)

    @property
    def is_keeping_up(self) -> bool:
        return (
            self._is_kept_up
            or (self._dropping is not None and self._dropping.is_busy)
            or (self._sealing is not None and self._sealing.is_busy)
        )

    def not_sealed(self) -> str | None:
        """Why full tails stay tables, or commits go to one, although there should be objects."""
        problem = self._sealing.problem if self._sealing is not None else None
        if problem is None and self._object_commits is not None:
            problem = self._object_commits.problem
        return problem

    def not_dropped(self) -> Collection[str]:
        return self._dropping.problems.values() if self._dropping is not None else ()

    def waits_for(self) -> str | None:
        """Why the commit under way takes long. From any thread."""
        if not self._session.takes_long:
            return None
        if self._object_commits is not None and self._object_commits.is_writing:
            return "the bucket does not respond to a commit"
        problem = self._session.problem
        if problem is not None:
            return problem
        if self._copies is not None and self._copies.lacks_standby:
            return "PostgreSQL waits for a synchronous standby that is not connected"
        return "PostgreSQL does not respond to a commit"

    def commit(self, done: Done, waits: bool = False) -> None:
        staged = self._contents.end_pass()
        if self._closed:
            self._contents.failed()
            done(store_closed())
        elif not staged:
            done(None)
        elif staged.why_not is not None:
            self._contents.failed()
            done(StorageFailed(f"The store could not stage: {staged.why_not}"))
        elif waits or self._thread is None:
            outcome = self._writer.do(staged)
            self._done = done
            self._committed(staged, outcome)
        else:
            self._done = done
            loop_commits = self._loop_commits if not self._in_thread else None
            if loop_commits is None or not loop_commits.send(staged):
                self._leave(staged)

    def _put(self, work: Work) -> bool:
        """To the thread; False: there is none."""
        if self._loop_commits is not None and self._loop_commits.is_busy:
            self._behind.append(work)
            return True
        if self._loop_commits is not None:
            self._loop_commits.unwatch()
        is_put = self._thread is not None and self._thread.put(work)
        self._in_thread += is_put
        return is_put

    def _put_behind(self) -> None:
        """Before the next commit: one may follow the other without a pause."""
        behind, self._behind = self._behind, []
        for work in behind:
            self._put(work)

    def _leave(self, work: Staged | Sent) -> None:
        """A commit, to the thread."""
        if self._put(work):
            self._put_behind()
        elif isinstance(work, Sent):
            self._ended(work.staged, self._session.fail(work.problem))
        else:
            self._ended(work, StorageFailed("The store has no thread for commits"))

    def _ended(self, staged: Staged, outcome: Outcome) -> None:
        """Of a commit that the thread does not have."""
        self._put_behind()
        self._committed(staged, outcome)

    def send_on_loop(self, sockets: Sockets) -> None:
        """Small commits from now on. Those that go to objects wait for a bucket."""
        # The thread finds out what became of one without a response: it has to be there.
        if self._object_commits is None and self._thread is not None and self._thread.start():
            self._loop_commits = LoopCommits(
                self._session, self._writer, sockets, self._ended, self._leave
            )

    def _did(self, work: Work, outcome: Outcome) -> None:
        self._in_thread -= 1
        if isinstance(work, Staged):
            self._committed(work, outcome)
        elif isinstance(work, Sent):
            self._committed(work.staged, outcome)
        elif isinstance(work, NewObject):
            assert self._sealing is not None
            failure = outcome if isinstance(outcome, StorageFailed) else None
            self._sealing.sealed(work, failure)
            self.keep_up()
        elif work is Upkeep.CHECK:
            self._is_checked = False
            self._is_to_check = isinstance(outcome, StorageFailed) and not self._session.is_over
            self._report_if_over()
        else:
            self._is_kept_up = False
            failed = isinstance(outcome, StorageFailed)
            self._not_before_s = monotonic() + RETRY_S if failed else 0.0
            self.keep_up()

    def _committed(self, staged: Staged, outcome: Outcome) -> None:
        done, self._done = self._done, None
        assert done is not None
        if isinstance(outcome, StorageFailed):
            self._contents.failed()
            done(outcome)
        else:
            self._contents.committed(staged, outcome)
            if self._watch is not None and staged.unregistered:
                self._watch.membership.forget(staged.unregistered)
            done(None)
            self._commits += 1
            self.keep_up()
        self._report_if_over()

    def _report_if_over(self) -> None:
        if self._watch is not None and self._session.is_over:
            self._watch.fenced()

    def _check(self) -> None:
        """The server may be another one, which lacks commits."""
        if self._thread is not None and not self._is_checked:
            self._is_checked = self._put(Upkeep.CHECK)

    def repeated(self) -> int:
        """Commits that the database had lost since the start, and has again."""
        return self._writer.lost_commits.repeated

    def keep_up(self) -> None:
        """Also of a store in which nothing is committed."""
        if self._closed:
            return
        if self._is_to_check:
            self._is_to_check = False
            self._check()
        # Another broker that takes a partition over reads where its entries are: they stay there.
        has_begun = self._contents.has_begun
        if self._sealing is not None and has_begun:
            self._sealing.look()
        if self._is_kept_up:
            return
        if self._dropping is not None:
            self._dropping.look()
        is_idle = self._done is None and not self._contents.staged
        moves = has_begun and (is_idle or self._commits > _COMMITS_A_MOVE)
        due = self._writer.due(moves)
        if due is None or monotonic() < self._not_before_s:
            return
        if self._thread is not None:
            self._is_kept_up = self._put(due)
            if due is Upkeep.MOVE:
                self._commits = 0
        elif due is Upkeep.NEW_TAIL and isinstance(self._writer.do(due), StorageFailed):
            self._not_before_s = monotonic() + RETRY_S

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._contents.end_pass()
        self._session.end()
        if self._loop_commits is not None:
            self._loop_commits.unwatch()
        if self._thread is not None:
            self._thread.close(CLOSE_S)
        if self._dropping is not None:
            self._dropping.close()
        if self._sealing is not None:
            self._sealing.close()
        self._session.close()
        if self._watch is not None:
            self._watch.close()
        self._reading.close()
        if self._copies is not None:
            self._copies.close(CLOSE_S)
        done, self._done = self._done, None
        if done is not None:
            done(closed_during_a_commit())
