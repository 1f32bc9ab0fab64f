"""Logs in objects, which brokers read that do not lead them."""

from __future__ import annotations

import json
from struct import pack

from application.ports.sealed_log import SealedLog, SealedRecords
from infrastructure.storage.postgresql.commit import PostgresCommit
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.postgres_server import running_postgres
from tests.contract.s3_objects import Objects
from tests.contract.test_postgresql_objects_brokers import append

P = 7
MANY = 1 << 20


def joined(objects: Objects, tail_bytes: int = 1) -> JoinedBrokers:
    """By default each entry gets an object of its own."""
    more = f"{objects.url}&local.bytes=0&delete.delay.ms=0"
    return JoinedBrokers(running_postgres(), tail_bytes, more)


def sealing_leader(cluster: JoinedBrokers) -> JoinedBroker:
    """Of offsets 0 to 4; all but the last one are in objects, each in its own."""
    leader = cluster.join(1)
    leader.lead(P, 1)
    assert leader.commit() is None
    append(leader, 0, 1, 2, 3)
    snapshot(leader, 5)
    leader.append(P, 4)
    seals = commit_of(leader)._sealing
    assert seals is not None
    seals.is_busy = True  # the last table stays
    assert leader.commit() is None
    return leader


def filled(cluster: JoinedBrokers) -> tuple[JoinedBroker, JoinedBroker]:
    """The leader of offsets 0 to 39, and a follower."""
    leader, follower = cluster.join(1), cluster.join(2)
    leader.lead(P, 1)
    assert leader.commit() is None
    append(leader, *range(40))
    snapshot(leader, 40)
    assert leader.commit() is None
    return leader, follower


def commit_of(broker: JoinedBroker) -> PostgresCommit:
    assert isinstance(broker.storage.commit, PostgresCommit)
    return broker.storage.commit


def snapshot(
    broker: JoinedBroker, end: int, start: int = 0, opened: tuple[tuple[int, int], ...] = ()
) -> None:
    """Staged: as `StoredPartitionRepository` writes it."""
    row = {"end": [end, -1, -1], "start": start, "size": 0, "open": opened}
    broker.storage.state.put("partitions", pack(">I", P), json.dumps(row).encode())


def aborted(
    broker: JoinedBroker, marker: int, producer_id: int, first_offset: int, stable: int
) -> None:
    row = pack(">qqq", producer_id, first_offset, stable)
    broker.storage.state.put("aborted", pack(">IQ", P, marker), row)


def sealed_log(broker: JoinedBroker) -> SealedLog:
    assert broker.storage.sealed_log is not None
    return broker.storage.sealed_log


def fetch(
    broker: JoinedBroker, offset: int, max_bytes: int = MANY, whole_first: bool = True
) -> SealedRecords | None:
    found: list[SealedRecords | None] = []
    sealed_log(broker).fetch(P, offset, max_bytes, whole_first).then(found.append)
    broker.run_until(lambda: found)
    return found[0]


def records(broker: JoinedBroker, offset: int) -> bytes | None:
    found = fetch(broker, offset)
    return None if found is None else bytes(found.records)
