"""PostgresCommit: each pass is one statement, in a thread that only waits for it."""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.postgresql.contents import NOTHING_GAINED, Contents
from infrastructure.storage.postgresql.link import CLOSE_S
from infrastructure.storage.postgresql.reading import Reading
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.shared_rows import Gained
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.watch import Watch

Done = Callable[[StorageFailed | None], None]
Outcome = StorageFailed | Gained


class PostgresCommit:
    __slots__ = ("_closed", "_contents", "_done", "_reading", "_session", "_thread", "_watch")

    def __init__(
        self,
        session: Session,
        contents: Contents,
        reading: Reading,
        to_loop: ToLoop | None,
        watch: Watch | None = None,
    ) -> None:
        self._watch = watch
        self._session = session
        self._contents = contents
        self._reading = reading
        self._done: Done | None = None
        self._closed = False
        self._thread = (
            None
            if to_loop is None
            else LoadingThread(self._commit, self._committed, to_loop, "ottla-commits")
        )

    def commit(self, done: Done, waits: bool = False) -> None:
        staged = self._contents.end_pass()
        if not staged:
            done(None)
        elif staged.why_not is not None:
            self._contents.failed()
            done(StorageFailed(f"The store could not stage: {staged.why_not}"))
        elif waits or self._thread is None:
            outcome = self._commit(staged)
            self._done = done
            self._committed(staged, outcome)
        else:
            self._done = done
            if not self._thread.put(staged):
                self._committed(staged, StorageFailed("The system has no thread for commits"))

    def _commit(self, staged: Staged) -> Outcome:
        """In the thread."""
        failure = self._session.commit(staged)
        if failure is not None:
            return failure
        led = staged.leaders()
        return self._session.gained(self._contents, led) if led else NOTHING_GAINED

    def _committed(self, staged: Staged, outcome: Outcome) -> None:
        done, self._done = self._done, None
        assert done is not None
        if isinstance(outcome, StorageFailed):
            self._contents.failed()
            done(outcome)
        else:
            self._contents.committed(staged, outcome)
            done(None)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._contents.end_pass()
        self._session.end()
        if self._thread is not None:
            self._thread.close(CLOSE_S)
        self._session.close()
        if self._watch is not None:
            self._watch.close()
        self._reading.close()
        done, self._done = self._done, None
        if done is not None:
            # It may be persisted, as after a kill.
            done(StorageFailed("The store was closed during a commit"))
