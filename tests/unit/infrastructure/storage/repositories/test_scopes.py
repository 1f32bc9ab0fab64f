from __future__ import annotations

import pytest

from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.offsets import CommittedOffset
from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC, Topic
from domain.transactions.transaction import Transaction
from infrastructure.storage.memory.log_store import MemoryLogStore
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.repositories.group_repository import StoredGroupRepository
from infrastructure.storage.repositories.internal_slots import InternalSlots
from infrastructure.storage.repositories.leader_rows import LEADERS, leader_of
from infrastructure.storage.repositories.numbered_offsets import PENDING_OFFSETS, NumberedOffsets
from infrastructure.storage.repositories.offset_repository import StoredOffsetRepository
from infrastructure.storage.repositories.scopes import (
    OF_PARTITIONS,
    OF_SLOTS,
    Scope,
    ScopeKind,
    is_shared,
    scope_of,
)
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from infrastructure.storage.repositories.transaction_repository import StoredTransactionRepository

AN_OFFSET = CommittedOffset(3, -1, "", 5, None, bytes(16))


class Rows:
    """What repositories write, and to which partition of an internal topic it belongs."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.state = MemoryStateStore(self.store)
        self.topics = StoredTopicRepository(MemoryLogStore(self.store), self.state)
        for number, name in enumerate((OFFSETS_TOPIC, TRANSACTION_TOPIC)):
            ids = tuple(range(number * 10, number * 10 + 7))
            self.topics.save(Topic(name, bytes(15) + bytes([number]), ids, {}))
        self.store.keep()

    def slots(self) -> InternalSlots:
        slots = InternalSlots()
        for key, row in self.state.scan("topics"):
            slots.put(key, row)
        return slots

    def partition_ids(self, table: str) -> list[int | None]:
        self.store.keep()
        slots = self.slots()
        return [slots.partition_id(scope_of(table, *row)) for row in self.state.scan(table)]


@pytest.mark.parametrize("group_id", ["g", "a longer group", "ü"])
def test_rows_of_a_group_belong_to_the_partition_that_it_chooses(group_id: str) -> None:
    rows = Rows()
    change = GroupMetadataChanged(group_id, Image(1, "consumer", None, None, 0, (), False))
    StoredGroupRepository(rows.state).save(change)
    write = (group_id, "t", 0, AN_OFFSET)
    StoredOffsetRepository(rows.state, lambda done: None).apply([write], lambda failure: None)
    NumberedOffsets(rows.state, PENDING_OFFSETS).save(4711, [write])
    expected = partition_of(group_id, 7)
    for table in ("groups", "offsets", PENDING_OFFSETS):
        assert rows.partition_ids(table) == [expected], table


def test_a_transaction_belongs_to_the_partition_that_its_id_chooses() -> None:
    rows = Rows()
    StoredTransactionRepository(rows.state).save("tx", Transaction("tx", 1, 1000, 0))
    assert rows.partition_ids("transactions") == [10 + partition_of("tx", 7)]


def test_rows_of_a_partition_begin_with_its_id() -> None:
    for table in OF_PARTITIONS:
        assert scope_of(table, (7).to_bytes(4, "big") + b"more", b"") == Scope(
            ScopeKind.PARTITION, 7
        )
        assert not is_shared(table)


def test_all_other_rows_are_shared() -> None:
    for table in ("topics", "doomed", "counters", "configs", "acls", "users", "quotas", "cluster"):
        assert is_shared(table)
        assert scope_of(table, b"key", b"value") == Scope(ScopeKind.CLUSTER)
    assert is_shared(LEADERS)


def test_a_damaged_row_has_a_scope_too() -> None:
    for table in OF_SLOTS:
        assert scope_of(table, b"key", b"[").kind is not ScopeKind.CLUSTER


def test_without_the_topic_its_rows_belong_to_nobody() -> None:
    rows = Rows()
    slots = rows.slots()
    slots.put(OFFSETS_TOPIC.encode(), None)
    assert slots.partition_id(Scope(ScopeKind.GROUP, 5)) is None
    assert list(slots.of([3, 12])) == [(ScopeKind.TRANSACTION, 7, [2])]


def test_a_row_says_which_broker_leads() -> None:
    assert leader_of(b"\0\0\0\2rest") == 2
    assert leader_of(b"\xff\xff\xff\xff") == -1
