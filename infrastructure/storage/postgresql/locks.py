"""Advisory locks: a courtesy to the operator, and turns between brokers.

What keeps brokers apart is their sessions: a process that was stopped keeps its locks, and a
promoted standby knows of none.
"""

from __future__ import annotations

from infrastructure.storage.postgresql.server import Rows

_TRY = "select pg_try_advisory_lock(hashtext(%s), hashtext(current_schema()))"
_RELEASE = "select pg_advisory_unlock(hashtext(%s), hashtext(current_schema()))"
_HOLDER = """
    select a.pid, a.application_name from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted
    and l.classid::bigint = (hashtext(%s)::bigint & 4294967295)
    and l.objid::bigint = (hashtext(current_schema())::bigint & 4294967295)
"""


class AdvisoryLock:
    def __init__(self, name: str) -> None:
        self._name = name

    def taken(self, connection: Rows) -> bool:
        """At once, or not. Raises psycopg.Error, as the other methods."""
        found = connection.execute(_TRY, (self._name,)).fetchall()
        return bool(found[0][0])

    def release(self, connection: Rows) -> None:
        connection.execute(_RELEASE, (self._name,))

    def holder(self, connection: Rows) -> str:
        """The process that has it."""
        found = connection.execute(_HOLDER, (self._name,)).fetchall()
        who = found[0][1].removeprefix("ottla ") if found else "unknown"
        return f"process {who}"


class NodeLock(AdvisoryLock):
    """One process of each node id."""

    def __init__(self, node_id: int) -> None:
        super().__init__(f"ottla node {node_id}")


class OnlyWriterLock(AdvisoryLock):
    """Of versions whose stores had one writer."""

    def __init__(self) -> None:
        super().__init__("ottla")


class ChangesLock(AdvisoryLock):
    """The right to change the rows that all brokers share."""

    def __init__(self) -> None:
        super().__init__("ottla changes")
