"""Garbage: objects that no run refers to any more.

First the database forgets what is in an object; after the delay the object is deleted, and then its
row: nothing is left in the bucket, and a database that goes back in time has its objects.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql.server import Rows

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: Between two looks for garbage: after a failure, or if there was no more.
_PAUSE_S = 60.0
DELETE_DELAY_MS = 600_000
_AT_ONCE = 1000

#: The commit that seals the object waits for this, or the other way round.
_LOCK = "select from ottla_tails where n = %s and deleted is null for update"
_HAS_RUNS = "select from ottla_runs where tail = %s limit 1"
_FORGET = """
    update ottla_tails t set deleted = clock_timestamp() where n = %(tail)s
    and exists (select from ottla_fences where session = %(session)s)
    and (t.session is null or t.session not in (select session from ottla_fences))
"""
_FORGET_ENTRIES = "delete from ottla_object_entries where tail = %s"
_DELETABLE = f"""
    select t.n, t.object from ottla_tails t, ottla_store s
    where t.deleted <= clock_timestamp()
        - coalesce(s.delete_delay_ms, {DELETE_DELAY_MS}) * interval '1 millisecond'
    order by random() limit %s
"""


def drop_object(connection: Rows, tail: int, session: int) -> bool:
    """True: this broker forgets it. False: later. Raises psycopg.Error."""
    with connection.transaction():
        if not connection.execute(_LOCK, (tail,)).rowcount:
            return True  # by another broker, or the response was lost
        # What was committed before the lock was there is seen from here on.
        if connection.execute(_HAS_RUNS, (tail,)).rowcount:
            return True  # by another broker, which drops it
        if not connection.execute(_FORGET, {"tail": tail, "session": session}).rowcount:
            return False
        connection.execute(_FORGET_ENTRIES, (tail,))
    return True


class Garbage:
    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        #: Fewer after a failure: it may be one that cannot be deleted, as with a legal hold.
        self._most = _AT_ONCE
        self._next_s = 0.0

    @property
    def is_due(self) -> bool:
        return monotonic() >= self._next_s

    def delete(self, connection: Rows) -> None:
        """In a thread. Raises psycopg.Error."""
        self._next_s = monotonic() + _PAUSE_S
        found = connection.execute(_DELETABLE, (self._most,)).fetchall()
        if not found:
            return
        try:
            self._bucket.delete([name for _, name in found])
        except ObjectsFailed:
            self._most = max(len(found) // 2, 1)
            return  # later
        numbers = [number for number, _ in found]
        connection.execute("delete from ottla_tails where n = any(%s)", (numbers,))
        if len(found) == self._most:
            self._next_s = 0.0  # there may be more
        self._most = min(2 * self._most, _AT_ONCE)
