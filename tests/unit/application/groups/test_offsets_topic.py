"""What is appended to __consumer_offsets, in the commit of the rows."""

from __future__ import annotations

import pytest

from application.partitions import internal_topic
from application.ports.cluster_repository import WrittenTopic
from application.state.runtime import ignore
from domain.cluster.nodes import Leader
from domain.errors import StorageFailed
from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.classic.member import MemberImage
from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC
from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import committed, persist_offsets, stored_offsets
from tests.fakes.offsets_topic import Committed, Generation, records_of

MEMBER = MemberImage("m", None, "c", "/h", 60_000, 10_000, (("range", b"r"),), b"all")


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(offsets_topic="on", offsets_topic_num_partitions="3")
    fake.broker.start_upkeep()
    fake.topic("t", 3)
    fake.scheduler.advance(100)
    return fake


def save(fake: FakeBroker, group_id: str, *images: Image | None) -> None:
    changes = [GroupMetadataChanged(group_id, image) for image in images]
    fake.broker.groups.registry.runtime.persist(group_id, changes, ignore)
    fake.run()


def test_a_commit_is_a_record_in_the_partition_of_its_group(fake: FakeBroker) -> None:
    persist_offsets(fake, "g", "t", 0, 2)
    persist_offsets(fake, "h", "t", 0, offset=9)
    assert records_of(fake) == []
    fake.run()
    assert records_of(fake) == [
        Committed("g", "t", 0, 7),
        Committed("g", "t", 2, 7),
        Committed("h", "t", 0, 9),
    ]
    assert fake.partition(OFFSETS_TOPIC, partition_of("g", 3)).high_watermark == 2


def test_a_deleted_offset_has_a_tombstone(fake: FakeBroker) -> None:
    persist_offsets(fake, "g", "t", 0)
    fake.broker.groups.offsets.persist("g", [("g", "t", 0, None)], ignore)
    fake.run()
    assert records_of(fake) == [Committed("g", "t", 0, 7), Committed("g", "t", 0, None)]


def test_offsets_of_a_transaction_are_records_when_it_is_committed(fake: FakeBroker) -> None:
    in_transactions = fake.broker.groups.transactional_offsets
    one = committed(5, topic_id=fake.existing("t").topic_id)
    for producer_id, is_committed in ((7, False), (8, True)):
        in_transactions.add("g", producer_id, [("g", "t", 0, one)], ignore)
        fake.run()
        assert records_of(fake) == []
        before = fake.commit.count
        in_transactions.complete(producer_id, ["g"], is_committed)
        fake.run()
        assert fake.commit.count == before + 1
    assert records_of(fake) == [Committed("g", "t", 0, 5)]


def test_offsets_of_a_deleted_topic_get_tombstones(fake: FakeBroker) -> None:
    persist_offsets(fake, "g", "t", 0)
    persist_offsets(fake, "h", "t", 1)
    fake.run()
    fake.broker.topics.delete_topics.delete([fake.existing("t")])
    fake.scheduler.advance(1000)
    tombstones = {one[:3] for one in records_of(fake) if one[3:] == (None,)}
    assert tombstones == {("g", "t", 0), ("h", "t", 1)}


def test_a_failed_commit_leaves_neither_offset_nor_record(fake: FakeBroker) -> None:
    persist_offsets(fake, "g", "t", 0)
    fake.commit.fail_next()
    fake.run()
    assert (stored_offsets(fake), records_of(fake)) == (0, [])
    persist_offsets(fake, "g", "t", 0, offset=8)
    fake.run()
    assert records_of(fake) == [Committed("g", "t", 0, 8)]


def test_generations_with_an_assignment_or_without_members_are_records(fake: FakeBroker) -> None:
    joined = Image(1, "consumer", "range", "m", 5, (MEMBER,), is_assigned=False)
    assigned = joined._replace(is_assigned=True)
    empty = Image(2, "consumer", None, None, 6, (), is_assigned=False)
    save(fake, "g", joined, assigned)
    save(fake, "h", empty, None)
    assert records_of(fake) == [
        Generation("g", 1, members=1),
        Generation("h", 2),
        Generation("h", None),
    ]


def test_a_large_commit_is_several_batches(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(internal_topic, "BATCH_BYTES", 100)
    persist_offsets(fake, "g", "t", 0, 1, 2)
    fake.run()
    assert [one.partition for one in records_of(fake) if isinstance(one, Committed)] == [0, 1, 2]
    index = partition_of("g", 3)
    partition_id = fake.existing(OFFSETS_TOPIC).partition_ids[index]
    assert len(fake.log.headers(partition_id, 0, 9)) == 2


def test_a_group_id_that_no_record_can_hold_is_not_written(fake: FakeBroker) -> None:
    persist_offsets(fake, "g" * 40_000, "t", 0)
    fake.run()
    assert (stored_offsets(fake), records_of(fake)) == (1, [])


def test_offsets_are_committed_while_the_topic_is_unreadable(fake: FakeBroker) -> None:
    fake.log.failing = StorageFailed("damaged")
    persist_offsets(fake, "g", "t", 0)
    fake.run()
    assert stored_offsets(fake) == 1
    fake.log.failing = None
    assert records_of(fake) == []
    again = fake.restarted()
    again.broker.start_upkeep()
    again.scheduler.advance(1000)
    assert records_of(again) == [Committed("g", "t", 0, 7)]


def test_a_missing_record_is_marked_when_the_broker_has_the_right(fake: FakeBroker) -> None:
    cluster = fake.core.cluster
    fake.changes.withhold()
    fake.log.failing = StorageFailed("damaged")
    for partition in range(2):
        persist_offsets(fake, "g", "t", partition)
        fake.run()
    fake.log.failing = None
    written = cluster.internal_topic(OFFSETS_TOPIC)
    assert (stored_offsets(fake), fake.changes.waiting) == (2, 1)
    assert written is not None and written.complete
    fake.changes.give()
    fake.run()
    assert cluster.internal_topic(OFFSETS_TOPIC) == written._replace(complete=False)


def test_on_a_full_disk_offsets_are_committed_without_records(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[WrittenTopic | None] = []
    save_internal_topic = StoredClusterRepository.save_internal_topic

    def counted(cluster: StoredClusterRepository, name: str, written: WrittenTopic | None) -> None:
        saved.append(written)
        save_internal_topic(cluster, name, written)

    monkeypatch.setattr(StoredClusterRepository, "save_internal_topic", counted)
    fake.reserve.is_released = True
    fake.commit.fail_next()
    for partition in range(3):
        persist_offsets(fake, "g", "t", partition)
        fake.run()
    assert (stored_offsets(fake), records_of(fake)) == (2, [])
    assert len(saved) == 2  # in the commit that failed, and in the next one

    fake.reserve.is_released = False
    again = fake.restarted()
    again.broker.start_upkeep()
    again.scheduler.advance(1000)
    assert records_of(again) == [Committed("g", "t", 1, 7), Committed("g", "t", 2, 7)]


def test_records_are_appended_again_when_the_disk_has_room(fake: FakeBroker) -> None:
    fake.reserve.is_released = True
    fake.reserve.room_bytes = 1000
    persist_offsets(fake, "g", "t", 0)
    fake.run()
    assert records_of(fake) == [Committed("g", "t", 0, 7)]


def test_offsets_of_consumer_groups_are_records_too(fake: FakeBroker) -> None:
    row = ("g", "t", 0, committed(4, topic_id=fake.existing("t").topic_id, expires_ms=9))
    fake.broker.groups.offsets.persist("g", [row], ignore)
    fake.run()
    assert records_of(fake) == [Committed("g", "t", 0, 4)]


def test_a_record_for_another_leader_is_left_out_without_damage(fake: FakeBroker) -> None:
    """The row is not kept either: it was staged after the partition had moved."""
    topic = fake.existing(OFFSETS_TOPIC)
    fake.placement.move_all(dict.fromkeys(topic.partition_ids, Leader(2, 1)))
    persist_offsets(fake, "g", "t", 0)
    fake.run()
    written = fake.core.cluster.internal_topic(OFFSETS_TOPIC)
    assert written is not None and written.complete
    assert stored_offsets(fake) == 1 and fake.store.partitions.keys() & topic.partition_ids == set()
