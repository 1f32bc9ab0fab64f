"""PostgresClusterChanges: the right to change shared rows, by an advisory lock that one broker has.

A broker keeps it until another one asks for it, which it does over the database. If the lock was
lost with its connection, the version of the shared rows decides: the statement of a commit fails.
"""

from __future__ import annotations

from collections.abc import Callable

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from infrastructure.storage.loading_thread import resolve_all
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.timeline import first_epoch, promotions

#: Some 10 ms apart: a request that has waited runs long before.
_MOST_ASKS = 50


class PostgresClusterChanges:
    """Used on the loop; `wakes` lets the thread that has the connection look at `wanted`."""

    def __init__(self, contents: Contents, wake: Callable[[], None]) -> None:
        self._contents = contents
        self._wake = wake
        self._held = False
        self._asked = False
        self._asks = 0
        #: Since it is held: who waited for it has had it.
        self._used = False
        self._waiting: list[Pending[None]] = []
        self._when_promoted: list[Callable[[], None]] = []

    @property
    def wanted(self) -> bool:
        return bool(self._waiting)

    @property
    def yields(self) -> bool:
        """Another broker is next: what is under way ends, and further requests wait."""
        return self._held and self._asked and self._used

    def check(self) -> None:
        if self._held and not self.yields:
            self._used = True
            return
        loading: Pending[None] = Pending()
        self._waiting.append(loading)
        if len(self._waiting) == 1:
            self._wake()
        raise NotInMemory(loading)

    @property
    def first_epoch(self) -> int:
        return first_epoch(self._contents.timeline)

    @property
    def losses(self) -> int:
        return promotions(self._contents.timeline)

    def on_promoted(self, call: Callable[[], None]) -> None:
        self._when_promoted.append(call)

    def promoted(self) -> None:
        """The newest connection is to a server with a higher timeline."""
        for call in self._when_promoted:
            call()

    def given(self, version: int, timeline: int) -> None:
        """Unless changes of others up to this version are still to be taken over: then again.

        `timeline`: of the connection that has the lock.
        """
        if self._contents.version < version:
            return
        self._contents.may_change(timeline)
        waiting, self._waiting = self._waiting, []
        self._held, self._asked, self._used = True, False, not waiting
        self._asks = 0
        resolve_all(waiting)

    def asked(self, release: Callable[[], None]) -> None:
        """Another broker waits for it: called again and again. Releases it if it is not in use."""
        self._asked = True
        self._asks += 1
        if self._asks > _MOST_ASKS:
            self._used = True  # the request that waited for it has ended
        if self._held and self._used and not self._contents.changes_shared:
            self._held = False
            release()

    def lost(self) -> None:
        """With its connection."""
        self._held = False
        if self._waiting:
            self._wake()
