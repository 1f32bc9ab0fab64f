"""The timeline of a server, and the leader epochs that are its own.

Each promotion of a standby begins the next timeline. An asynchronous standby may lack commits with
leader epochs that clients know. So new epochs on a timeline are above those of the timelines
before, however many of these were lost.
"""

from __future__ import annotations

import psycopg

from infrastructure.storage.postgresql.server import Rows

#: Some services have none of its functions.
NOT_KNOWN = 0
#: Of a primary: of what it writes, from its promotion on.
TIMELINE = "('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint"
#: Of one timeline, for each partition. One that has used them goes on with the next number.
_EPOCHS = 1 << 16
#: The other half of the numbers is for more changes of leaders on the last timeline.
_LAST_FIRST_EPOCH = 1 << 30


def timeline_of(connection: Rows) -> int:
    """Raises psycopg.Error."""
    try:
        [(found,)] = connection.execute(f"select {TIMELINE}".encode()).fetchall()
    except (
        psycopg.errors.FeatureNotSupported,
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.UndefinedFunction,
    ):
        return NOT_KNOWN
    return int(found)


def promotions(timeline: int) -> int:
    return max(timeline - 1, 0)


def first_epoch(timeline: int) -> int:
    """New leader epochs of this timeline are not lower."""
    return min(promotions(timeline) * _EPOCHS, _LAST_FIRST_EPOCH)
