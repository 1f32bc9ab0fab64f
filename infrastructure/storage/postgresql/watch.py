"""Watch: a thread with a connection of its own, for this broker's place in the cluster.

    renews the lease, and learns of the other brokers
    ends the session of a broker whose lease is over
    reads the shared rows that others have changed, and the rows of what this broker leads by them
    finds out, with a new connection, whether the database has lost some that are known here, and
    announces this broker again: the database may have lost that
    reads the markers that others have requested, or written
    waits for the right to change shared rows

What it learns is applied on the loop. It waits for the next renewal, for the database to tell of a
change (LISTEN), or for the loop. While the contents are loaded it only renews the lease: others end
the session of a broker that is silent, also of one that starts.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic

import psycopg
from psycopg import sql

from infrastructure.storage.engine import Joining, ToLoop
from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.postgresql import leases, shared_rows
from infrastructure.storage.postgresql.cluster_changes import PostgresClusterChanges
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.leases import Lease
from infrastructure.storage.postgresql.link import CLOSE_S, Link
from infrastructure.storage.postgresql.locks import ChangesLock
from infrastructure.storage.postgresql.marker_rows import CHANGED
from infrastructure.storage.postgresql.membership import PostgresMembership
from infrastructure.storage.postgresql.seen_leases import SeenLeases
from infrastructure.storage.postgresql.server import Rows, Server, end_backend
from infrastructure.storage.postgresql.session import RETRY_S, Session
from infrastructure.storage.postgresql.shared_rows import SharedRows
from infrastructure.storage.postgresql.timeline import NOT_KNOWN, timeline_of

#: Another broker waits for the right to change shared rows.
_TURN = "turn"
#: While this broker waits for it.
_TRY_AGAIN_S = 0.01
#: Between two requests for it.
_ASK_AGAIN_S = 0.2
#: After it was released: another one waits.
_PAUSE_S = 0.05
#: Of a start that waits for it, while no other broker starts.
_PATIENCE_S = 60.0
#: Of the end of a session, if the row of its broker is locked.
_PATIENCE_TO_FENCE_MS = 1000
#: Between two removals of shared rows that are deleted.
_CLEANING_S = 60.0


class Watch:
    def __init__(
        self,
        server: Server,
        connection: Rows,
        session: Session,
        contents: Contents,
        joining: Joining,
        to_loop: ToLoop,
    ) -> None:
        self._server = server
        self._link = Link(connection)
        #: Of the newest connection.
        self._backend = 0
        self._timeline = NOT_KNOWN
        self._session = session
        self._contents = contents
        self._node_id = joining.node.node_id
        self._joining = joining
        self._session_s = joining.session_ms / 1000
        self._heartbeat_s = joining.heartbeat_ms / 1000
        #: Meanwhile the lease is not renewed.
        self._patience_ms = min(joining.heartbeat_ms, _PATIENCE_TO_FENCE_MS)
        self._to_loop = to_loop
        #: To be called on the loop: this broker has lost its session, or the database commits.
        self.fenced = joining.fenced
        #: To be called on the loop: the database may be another one.
        self.connected_again: Callable[[], None] = lambda: None
        self._wake_in, self._wake_out = os.pipe()
        # A full one wakes as well.
        os.set_blocking(self._wake_out, False)
        self._lock = ChangesLock()
        self._has_lock = False
        #: The loop has given up the right that came with this connection.
        self._to_release: Rows | None = None
        #: Changes are followed from then on.
        self._is_loaded = False
        self._another_starts = False
        self._next_try = self._next_ask = 0.0
        self._next_beat = 0.0
        self._next_cleaning = monotonic() + _CLEANING_S
        #: The server may be another one than before.
        self._is_new = False
        #: It was told of a change.
        self._is_told = self._markers_changed = True
        self._is_asked = False
        self._seen = SeenLeases(self._session_s)
        contents.read_again = self._follow_again
        contents.read_markers_again = self._read_markers_again
        self.changes = PostgresClusterChanges(contents, self.wake)
        self.membership = PostgresMembership(joining, contents, self.wake)
        self._thread = threading.Thread(target=self._run, name="ottla-cluster", daemon=True)

    # ---- start

    def begin(self) -> None:
        """Registers this broker, and takes the right to change shared rows. The thread runs from
        then on.

        Raises StorageInUse or psycopg.Error.
        """
        connection = self._link.connection
        assert connection is not None
        joining = self._joining
        leases.register(connection, joining.node, joining.software, joining.session_ms)
        self._listen(connection)
        until = monotonic() + _PATIENCE_S
        while not self._lock.taken(connection):
            if monotonic() >= until:
                holder = self._lock.holder(connection)
                raise StorageInUse(f"{holder} does not let others change what brokers share")
            if monotonic() >= self._next_ask:
                leases.tell(connection, _TURN)
                self._next_ask = monotonic() + _ASK_AGAIN_S
            if monotonic() >= self._next_beat:
                self._beat(connection)
                if self._another_starts:  # it has the right until it is loaded
                    until = monotonic() + _PATIENCE_S
            self._link.ended.wait(_TRY_AGAIN_S)
        self._has_lock = True
        self._is_asked = False  # by itself; others ask again
        self.changes.given(0, self._timeline)
        self._thread.start()

    def loaded(self) -> None:
        """The contents."""
        self._is_loaded = True
        self._next_beat = 0.0
        self.wake()

    def _leave(self) -> None:
        if self._link.connection is not None:
            with suppress(psycopg.Error):
                leases.leave(self._link.connection, self._node_id, self._session.numbers)
        self._link.drop()

    # ---- from the loop

    def wake(self) -> None:
        with suppress(OSError):
            os.write(self._wake_out, b"!")

    def _follow_again(self) -> None:
        self._is_told = True
        self.wake()

    def _read_markers_again(self) -> None:
        self._markers_changed = True
        self.wake()

    def close(self) -> None:
        """After the last commit, or if the start fails."""
        self._link.ended.set()
        self.wake()
        if self._thread.ident is None:
            self._leave()
        else:
            self._thread.join(CLOSE_S)
        self._link.end()
        # The loop may wake this thread once more, and the number may be a client's socket by then.
        wakes, self._wake_out = self._wake_out, -1
        if not self._thread.is_alive():  # the thread may still read
            os.close(self._wake_in)
            os.close(wakes)

    # ---- the thread

    def _run(self) -> None:
        while not self._link.ended.is_set():
            self._link.busy = True
            try:
                if self._link.connection is None:
                    self._connect()
                else:
                    self._step(self._link.connection)
            except psycopg.Error:
                self._lose_connection()
            except Exception as fault:  # the lease must be renewed, whatever else is wrong
                self._lose_connection()
                self._post(partial(_raise, fault))
            finally:
                self._link.busy = False
        self._leave()

    def _connect(self) -> None:
        self._link.connection = connection = self._server.connect(again=True)
        # It may have the right to change shared rows.
        end_backend(connection, self._backend)
        timeline = self._timeline
        self._listen(connection)
        self._is_new = self._is_told = self._markers_changed = True
        self.membership.is_announced = False
        if self._timeline > timeline:
            self._post(self.changes.promoted)
        self._post(self.connected_again)

    def _listen(self, connection: Rows) -> None:
        self._backend = connection.info.backend_pid
        timeline = timeline_of(connection)
        connection.add_notify_handler(self._notified)
        connection.execute(
            sql.SQL("listen {}").format(sql.Identifier(f"ottla {self._server.address.schema}"))
        )
        self._timeline = timeline

    def _notified(self, notify: psycopg.Notify) -> None:
        if notify.payload == _TURN:
            self._is_asked = True
        elif notify.payload == CHANGED:
            self._markers_changed = True
        else:
            self._is_told = True

    def _lose_connection(self) -> None:
        self._link.drop()
        if self._has_lock:
            self._has_lock = False
            self._post(self.changes.lost)
        self._link.ended.wait(RETRY_S)

    def _step(self, connection: Rows) -> None:
        if self._is_loaded:
            self._look_around(connection)
        if monotonic() >= self._next_beat:
            self._beat(connection)
        if self._is_loaded:
            self._take_turns(connection)
        self._wait(connection)

    def _look_around(self, connection: Rows) -> None:
        if self._is_new:  # before anything newer is followed
            self._is_new = False
            version = self._contents.version
            shared = shared_rows.shared(connection, also_deleted=True)
            self._post(partial(self._compare, version, shared))
        if (broker := self.membership.to_announce()) is not None:
            if leases.announce(connection, broker, self._session.numbers):
                self._next_beat = 0
            else:  # the session may be another one by now
                self.membership.is_announced = False
        if self._is_told:
            self._is_told = False
            self._next_beat = 0
            self._follow(connection)
        if self._markers_changed:
            self._markers_changed = False
            found = self._contents.read_markers(connection)
            self._post(partial(self._contents.take_markers, found))

    def _wait(self, connection: Rows) -> None:
        until = self._next_beat
        if self._is_loaded:
            if self._is_told or self._markers_changed:
                return
            if self.changes.wanted:
                until = min(until, max(self._next_try, monotonic() + _TRY_AGAIN_S))
            elif self._is_asked:
                until = min(until, monotonic() + _TRY_AGAIN_S)
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        poll.register(self._wake_in, select.POLLIN)
        for descriptor, _ in poll.poll(max(0.0, until - monotonic()) * 1000):
            if descriptor == self._wake_in:
                os.read(self._wake_in, 1000)
            else:
                connection.execute("select 1")  # takes what it tells

    def _follow(self, connection: Rows) -> int:
        """The version in the database."""
        changes = shared_rows.changed_since(connection, self._contents.version)
        if changes.version > changes.since:
            gained = self._contents.gained(connection, changes.rows, by_others=True)
            self._post(partial(self._contents.take_over, changes, gained))
        return changes.version

    # ---- leases

    def _beat(self, connection: Rows) -> None:
        began, numbers, version = monotonic(), self._session.numbers, self._contents.version
        self._next_beat = began + self._heartbeat_s
        if began - self.membership.seen_at > self._session_s:
            # The loop does not go on: others should take the place of this broker.
            self._post(self.membership.goes_on)
            return
        beat = leases.renew(connection, self._node_id, numbers, self._joining.session_ms, version)
        is_over = not beat.is_renewed and numbers == self._session.numbers
        if is_over or beat.version < version:  # the database has lost commits
            self._post(self.fenced)
        self._seen.read(beat.leases, monotonic())
        self._another_starts = any(
            one.session and one.is_fenced and one.node_id != self._node_id for one in beat.leases
        )
        for lease in beat.leases:
            self._look_at(connection, lease)
        until = began + self._session_s if beat.is_renewed else 0.0
        brokers = [lease.broker for lease in beat.leases]
        leases_until = {one.node_id: self._seen.until(one) for one in beat.leases if one.session}
        self._post(partial(self.membership.seen, brokers, until, leases_until))
        if not self._is_loaded:
            return
        if beat.version > version:
            self._follow(connection)
        if began >= self._next_cleaning:
            self._next_cleaning = began + _CLEANING_S
            leases.forget_deleted(connection, _known_to_all(beat.leases))

    def _look_at(self, connection: Rows, lease: Lease) -> None:
        """It may start, too: what it has, as the right to change shared rows, others wait for."""
        if (
            lease.session
            and lease.node_id != self._node_id
            and self._seen.is_over(lease)
            and leases.fence(connection, lease, self._patience_ms)
        ):
            self._next_beat = 0

    # ---- the right to change shared rows

    def _take_turns(self, connection: Rows) -> None:
        if self._to_release is connection:  # of a former one it is too late
            self._to_release, self._is_asked = None, False
            self._lock.release(connection)
            self._has_lock = False
            self._next_try, self._next_ask = monotonic() + _PAUSE_S, 0.0
        if not self._has_lock and self.changes.wanted and monotonic() >= self._next_try:
            self._is_asked = False
            if self._lock.taken(connection):
                self._has_lock = True
                self._beat(connection)  # the brokers are as new as the rows
            elif monotonic() >= self._next_ask:
                leases.tell(connection, _TURN)
                self._next_ask = monotonic() + _ASK_AGAIN_S
        yields = self._is_asked and self.changes.yields
        if self._has_lock and self.changes.wanted and not yields:
            self._post(partial(self.changes.given, self._follow(connection), self._timeline))
        elif self._has_lock and self._is_asked:
            self._post(partial(self.changes.asked, partial(self._release_soon, connection)))

    def _post(self, call: Callable[[], None]) -> None:
        try:
            self._to_loop(call)
        except RuntimeError:  # the loop is closed
            self._link.ended.set()

    def _compare(self, version: int, found: SharedRows) -> None:
        """On the loop."""
        known = self._contents.known_rows()
        if self._contents.changes_shared or known.version != version:
            self._is_new = True  # what was read may be older: again, with the next step
        elif known.newer(found) is None:
            self.fenced()

    def _release_soon(self, connection: Rows) -> None:
        """On the loop."""
        self._to_release = connection
        self.wake()


def _known_to_all(found: list[Lease]) -> int:
    """The version of the shared rows that all brokers know which have a session.

    However long they are silent: until their sessions are ended they may go on.
    """
    return min((one.version for one in found if one.session), default=0)


def _raise(fault: Exception) -> None:
    """On the loop, which logs it."""
    raise fault
