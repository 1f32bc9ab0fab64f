"""Garbage: objects that no run refers to any more.

First the database forgets what is in an object; after the delay the object is deleted, and then its
row: nothing is left in the bucket, and what goes back to an older state of the database for less
than the delay finds its objects.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql.server import Rows

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: Between two looks for garbage: as long as the delay, within these limits.
_SHORTEST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_AT_ONCE = 1000

#: The commit that seals the object waits for this, or the other way round.
_LOCK = "select from ottla_tails where n = %s and deleted is null for update"
_NEEDED = "select from ottla_runs where tail = %s limit 1"
_FORGET = """
    update ottla_tails t set deleted = clock_timestamp() where n = %(tail)s
    and exists (select from ottla_fences where session = %(session)s)
    and (t.session is null or t.session not in (select session from ottla_fences))
"""
_FORGET_PIECES = "delete from ottla_pieces where tail = %s"
_DELETABLE = f"""
    select n, object from ottla_tails
    where deleted < clock_timestamp() - %s * interval '1 millisecond'
    order by n limit {_AT_ONCE}
"""


def drop_object(connection: Rows, tail: int, session: int) -> bool:
    """False: not yet. Raises psycopg.Error."""
    with connection.transaction():
        if not connection.execute(_LOCK, (tail,)).rowcount:
            return True  # by another broker, or the response was lost
        # What was committed before the lock was there is seen from here on.
        if connection.execute(_NEEDED, (tail,)).rowcount:
            return True  # by another broker, which drops it
        if not connection.execute(_FORGET, {"tail": tail, "session": session}).rowcount:
            return False
        connection.execute(_FORGET_PIECES, (tail,))
    return True


class Garbage:
    def __init__(self, bucket: Bucket, delay_ms: int) -> None:
        self._bucket = bucket
        self._delay_ms = delay_ms
        self._pause_s = min(max(delay_ms / 1000, _SHORTEST_PAUSE_S), _LONGEST_PAUSE_S)
        self._next_s = 0.0

    @property
    def is_due(self) -> bool:
        return monotonic() >= self._next_s

    def delete(self, connection: Rows) -> None:
        """In a thread. Raises psycopg.Error."""
        self._next_s = monotonic() + self._pause_s
        found = connection.execute(_DELETABLE, (self._delay_ms,)).fetchall()
        if found:
            try:
                self._bucket.delete([name for _, name in found])
            except ObjectsFailed:
                return  # later
            numbers = [number for number, _ in found]
            connection.execute("delete from ottla_tails where n = any(%s)", (numbers,))
