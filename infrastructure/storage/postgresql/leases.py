"""Leases: the rows of ottla_brokers, by which brokers know of each other.

A lease that is over changes nothing by itself: until another broker ends its session, the broker is
the leader of what it led. Who ends the session has seen by its own clock that the lease was not
renewed for the whole time; the clock of the server may jump.

Of a broker whose session has ended, however it did, the session is 0 until it starts again. One
that is fenced may have a session: it starts, or the database has lost its announcement, which it
repeats with its next connection.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg

from domain.cluster.nodes import BrokerRegistration, Node
from infrastructure.storage.postgresql.fence import ALONE
from infrastructure.storage.postgresql.server import Rows


class Lease(NamedTuple):
    """The row of a broker."""

    node_id: int
    #: 0: it has ended.
    session: int
    #: Other brokers do not count on it.
    is_fenced: bool
    #: By the clock of the server.
    is_over: bool
    until: Any
    #: Of the shared rows, as the broker knows them.
    version: int
    client: str
    registration: dict[str, Any]

    @property
    def broker(self) -> BrokerRegistration:
        values = self.registration
        # Another version may have written it.
        listed = values.get("addresses", {}).items()
        addresses = {name: (host, port) for name, (host, port) in listed}
        node = Node(self.node_id, values.get("rack"), addresses)
        return BrokerRegistration(
            node,
            self.is_fenced,
            values.get("software", ""),
            self.session,
            values.get("stopping", False),
        )


class Beat(NamedTuple):
    is_renewed: bool
    #: Of the shared rows.
    version: int
    leases: list[Lease]


_REGISTER = """
    insert into ottla_brokers (node_id, until, is_fenced, version, client, registration)
    values (%(node)s, clock_timestamp() + %(lasts)s * interval '1 ms', true, 0,
        current_setting('application_name'), %(registration)s)
    on conflict (node_id) do update set until = excluded.until, is_fenced = true,
        version = excluded.version, client = excluded.client
"""
_RENEW = """
    update ottla_brokers set until = clock_timestamp() + %(lasts)s * interval '1 ms',
        version = %(version)s
    where node_id = %(node)s and exists (
        select from ottla_fences where node_id = %(node)s and session = any(%(numbers)s))
"""
_LEASES = """
    select s.version, b.node_id, f.session, b.is_fenced, b.until < clock_timestamp(), b.until,
        b.version, b.client, b.registration
    from ottla_store s, ottla_brokers b join ottla_fences f on f.node_id = b.node_id
    order by b.node_id
"""
#: Waits for a statement that ends the session: it fences the broker.
_ANNOUNCE = """
    with own as (
        select node_id from ottla_fences where node_id = %s and session = any(%s) for update)
    update ottla_brokers b set is_fenced = false, registration = %s
    from own where b.node_id = own.node_id
"""
_FENCE = """
    with ended as (
        update ottla_fences f set session = 0 from ottla_brokers b
        where f.node_id = %(node)s and f.session = %(session)s and b.node_id = f.node_id
        and b.until = %(until)s returning f.seq),
    past as (
        insert into ottla_sessions (session, last_seq) select %(session)s, seq from ended),
    fenced as (
        update ottla_brokers set is_fenced = true from ended where node_id = %(node)s)
    select count(*) from ended
"""
#: Behind a commit that runs. In a transaction of its own.
_PATIENCE_TO_FENCE = "select set_config('lock_timeout', %s, true)"
#: They may hold locks, and nothing else ends them: the process may be stopped for hours.
_END_BACKENDS = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = %s and pid <> pg_backend_pid()
"""
#: Of a process before this connection: its other ones may have the same name.
_END_FORMER = """
    select pg_terminate_backend(a.pid, 1000) from ottla_brokers b
    join pg_stat_activity a on a.application_name = b.client
    where b.node_id = %s and b.until < clock_timestamp() and a.backend_start < (
        select backend_start from pg_stat_activity where pid = pg_backend_pid())
"""
#: Waits for a statement of the session that still runs: nothing comes behind it. A broker without
#: addresses was never announced: its start was refused.
_LEAVE = """
    with old as (
        select node_id, session, seq from ottla_fences
        where node_id = %s and session = any(%s) for update),
    past as (insert into ottla_sessions (session, last_seq) select session, seq from old),
    ended as (
        update ottla_fences f set session = 0 from old where f.node_id = old.node_id
        returning f.node_id),
    never_announced as (
        delete from ottla_brokers b using ended
        where b.node_id = ended.node_id and b.registration -> 'addresses' = '{}')
    update ottla_brokers b set is_fenced = true, until = clock_timestamp()
    from ended where b.node_id = ended.node_id and b.registration -> 'addresses' <> '{}'
"""
_END_SESSIONS = """
    with old as (
        select node_id, session, seq from ottla_fences
        where (node_id = %(alone)s) = %(is_alone)s for update),
    past as (
        insert into ottla_sessions (session, last_seq) select session, seq from old
        where session <> 0)
    update ottla_fences f set session = 0 from old where f.node_id = old.node_id
"""
_PATIENCE_TO_LEAVE = "set lock_timeout = '1s'"
_FORGET_DELETED = "delete from ottla_rows where kind = 0 and value is null and version <= %s"
_TELL = "select pg_notify('ottla ' || current_schema(), %s)"


def register(connection: Rows, node: Node, software: str, lasts_ms: int) -> None:
    """At a start: it is fenced until it is announced. Raises psycopg.Error, as the others."""
    encoded = _encoded(BrokerRegistration(node, software=software))
    values = {"node": node.node_id, "lasts": lasts_ms, "registration": encoded}
    connection.execute(_REGISTER, values)


def announce(connection: Rows, broker: BrokerRegistration, numbers: Sequence[int]) -> bool:
    """It serves clients at these addresses. False: these are not the numbers of its session."""
    values = broker.node.node_id, list(numbers), _encoded(broker)
    if not connection.execute(_ANNOUNCE, values).rowcount:
        return False
    tell(connection)
    return True


def renew(
    connection: Rows, node_id: int, numbers: Sequence[int], lasts_ms: int, version: int
) -> Beat:
    """`numbers`: the sessions of which one is that of the broker."""
    values = {"node": node_id, "numbers": list(numbers), "lasts": lasts_ms, "version": version}
    renewed = connection.execute(_RENEW, values).rowcount
    version, found = leases(connection)
    return Beat(bool(renewed), version, found)


def leases(connection: Rows) -> tuple[int, list[Lease]]:
    found = connection.execute(_LEASES).fetchall()
    return (found[0][0] if found else 0), [Lease(*one[1:]) for one in found]


def fence(connection: Rows, lease: Lease, patience_ms: int) -> bool:
    """Ends the session of a broker whose lease is over. False: it has renewed it, or its row stays
    locked; if the broker itself has locked it, the row is free soon.
    """
    values = {"node": lease.node_id, "session": lease.session, "until": lease.until}
    is_locked, count = False, 0
    try:
        with connection.transaction():
            connection.execute(_PATIENCE_TO_FENCE, (str(patience_ms),))
            [(count,)] = connection.execute(_FENCE, values).fetchall()
    except psycopg.errors.LockNotAvailable:
        is_locked = True
    if count or is_locked:
        with suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute(_END_BACKENDS, (lease.client,))
    if count:
        tell(connection)
    return bool(count)


def end_former(connection: Rows, node_id: int) -> bool:
    """Ends what the server still has of a process whose lease is over. False: there is nothing."""
    with suppress(psycopg.errors.InsufficientPrivilege):
        return bool(connection.execute(_END_FORMER, (node_id,)).fetchall())
    return False


def leave(connection: Rows, node_id: int, numbers: Sequence[int]) -> None:
    """After its last commit: others need not wait for the end of the lease."""
    connection.execute(_PATIENCE_TO_LEAVE)
    connection.execute(_LEAVE, (node_id, list(numbers)))
    tell(connection)


def end_brokers(connection: Rows) -> None:
    """All sessions of brokers: a process has the store alone."""
    connection.execute(_END_SESSIONS, {"alone": ALONE, "is_alone": False})
    connection.execute("update ottla_brokers set is_fenced = true")


def end_alone(connection: Rows) -> None:
    """The session of a process that had the store alone."""
    connection.execute(_END_SESSIONS, {"alone": ALONE, "is_alone": True})


def forget_deleted(connection: Rows, version: int) -> None:
    """Shared rows that are deleted. `version`: all brokers that have a session know it."""
    connection.execute(_FORGET_DELETED, (version,))


def tell(connection: Rows, what: str = "") -> None:
    """All brokers, this one too."""
    connection.execute(_TELL, (what,))


def _encoded(broker: BrokerRegistration) -> str:
    addresses = {name: list(address) for name, address in broker.node.addresses.items()}
    values = {"rack": broker.node.rack, "addresses": addresses, "software": broker.software}
    return json.dumps({**values, "stopping": broker.is_stopping})
