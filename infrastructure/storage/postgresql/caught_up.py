"""Connections to a database that has all commits of this process.

A standby that was promoted may lack some. Its tables are there, without these entries, and the runs
in memory lead to them: what is not found there would be skipped, or be missing in an object. Until
the thread of commits has repeated what is lost, nothing is read there.
"""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import StorageFailed
from infrastructure.storage.postgresql.server import Rows, Server
from infrastructure.storage.postgresql.session import Session

_SEQ = "select seq from ottla_fences where node_id = %s"


def connected(
    server: Server, session: Session, lacks_commits: Callable[[], object] = lambda: None
) -> Rows:
    """Raises StorageFailed or what `server` does."""
    newest = session.seq  # first: the database may have newer ones by then
    connection = server.connect(again=True)
    try:
        # A process that only reads may have none, and a broker that is new.
        found = connection.execute(_SEQ, (session.node_id,), prepare=False).fetchall()
        if newest > (found[0][0] if found else 0):
            lacks_commits()
            raise StorageFailed("PostgreSQL lacks commits of this broker")
    except BaseException:
        connection.close()
        raise
    return connection
