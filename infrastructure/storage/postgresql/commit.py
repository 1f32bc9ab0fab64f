"""PostgresCommit: each pass is one statement, in a thread that only waits for it."""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.link import CLOSE_S
from infrastructure.storage.postgresql.reading import Reading
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.staged import Staged

Done = Callable[[StorageFailed | None], None]


class PostgresCommit:
    __slots__ = ("_closed", "_contents", "_done", "_reading", "_session", "_thread")

    def __init__(
        self, session: Session, contents: Contents, reading: Reading, to_loop: ToLoop | None
    ) -> None:
        self._session = session
        self._contents = contents
        self._reading = reading
        self._done: Done | None = None
        self._closed = False
        self._thread = (
            None
            if to_loop is None
            else LoadingThread(session.commit, self._committed, to_loop, "ottla-commits")
        )

    def commit(self, done: Done, waits: bool = False) -> None:
        staged = self._contents.end_pass()
        if not staged:
            done(None)
        elif staged.why_not is not None:
            done(StorageFailed(f"The store could not stage: {staged.why_not}"))
        elif waits or self._thread is None:
            failure = self._session.commit(staged)
            self._done = done
            self._committed(staged, failure)
        else:
            self._done = done
            if not self._thread.put(staged):
                self._committed(staged, StorageFailed("The system has no thread for commits"))

    def _committed(self, staged: Staged, failure: StorageFailed | None) -> None:
        done, self._done = self._done, None
        assert done is not None
        if failure is None:
            self._contents.committed(staged)
        else:
            # What was staged meanwhile follows what is not there.
            self._contents.end_pass()
        done(failure)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._contents.end_pass()
        self._session.end()
        if self._thread is not None:
            self._thread.close(CLOSE_S)
        self._session.close()
        self._reading.close()
        done, self._done = self._done, None
        if done is not None:
            # It may be persisted, as after a kill.
            done(StorageFailed("The store was closed during a commit"))
