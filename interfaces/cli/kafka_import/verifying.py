"""Compares the store with the folder: logs before the import is completed, rows after it."""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import StorageFailed
from infrastructure.opening import Contents
from infrastructure.storage.engine import Storage
from interfaces.cli.failures import CommandFailed
from interfaces.cli.kafka_import.checking import Counting
from interfaces.cli.kafka_import.copying import Ids
from interfaces.cli.kafka_import.plan import PartitionPlan, Plan
from interfaces.cli.storage.info import offsets_of
from interfaces.cli.storage.opened import NotABatch, batches


class Differs(CommandFailed):
    def __init__(self, partition: PartitionPlan, how: str) -> None:
        super().__init__(
            f"{partition} differs in the store: {how}; nothing of the import is visible, start it "
            "again"
        )
        self.partition = partition


def verify_logs(storage: Storage, plan: Plan, ids: Ids, step: Callable[[int], None]) -> None:
    """Counts and checksums of all batches. Raises Differs."""
    for partition in plan.partitions():
        counting = Counting()
        try:
            for batch in batches(storage.log, ids[partition]):
                counting.add(batch)
                step(batch.size_bytes)
        except (NotABatch, StorageFailed) as damage:
            raise Differs(partition, str(damage)) from None
        expected = partition.facts
        found = counting.facts._replace(end_offset=expected.end_offset)
        if found != expected or counting.facts.end_offset > expected.end_offset:
            raise Differs(
                partition,
                f"{found.batches} batches, {found.records} records, checksum {found.checksum:08x}; "
                f"the folder has {expected.batches}, {expected.records}, {expected.checksum:08x}",
            )


def verify_rows(found: Contents, plan: Plan) -> None:
    """What was stored is read again. Raises CommandFailed."""
    topics = {topic.name: topic for topic in found.topics.load()}
    users, acls, quotas = found.users.load(), found.acls.load(), found.quotas.load()
    offsets = {row[:3]: row[3] for row in offsets_of(found)}
    transactions = {one.transactional_id: one for one in found.transactions.load()}
    missing = [
        *(f"topic {one.name}" for one in plan.topics if one.name not in topics),
        *(f"user {name}" for name, one in plan.users.items() if users.get(name) != one),
        *(f"ACL {one}" for one in plan.acls if one not in acls),
        *(f"quota of {one}" for one in plan.quotas if one not in quotas),
        *(f"offset of {one[:3]}" for one in plan.offsets if offsets.get(one[:3]) != one[3]),
        *(
            f"transactional id {one.transactional_id}"
            for one in plan.transactions
            if transactions.get(one.transactional_id) != one
        ),
    ]
    if missing:
        raise CommandFailed(f"the store lacks {missing[0]}, and {len(missing) - 1} more")
