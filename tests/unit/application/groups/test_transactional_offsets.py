from __future__ import annotations

from dataclasses import replace

import pytest

from application.groups.offset_commit import OffsetCommit
from application.groups.offsets import Offsets
from application.groups.transactional_offsets import TransactionalOffsets
from application.ports.offset_repository import OffsetWrite
from application.state.runtime import ignore
from domain.errors import CoordinatorNotAvailable, StorageFailed
from domain.groups.group import NO_EPOCH
from interfaces.kafka.wire.messages.offset_commit import OffsetCommitRequestPartition
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.groups import committed, persist_offsets
from tests.fakes.offsets import HeldOffsetRepository

PRODUCER, OTHER = 7, 8


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic(3)


def in_transactions(fake: FakeBroker) -> TransactionalOffsets:
    return fake.broker.groups.transactional_offsets


def add(
    fake: FakeBroker, offset: int, producer_id: int = PRODUCER, index: int = 0, group_id: str = "g"
) -> list[StorageFailed | None]:
    one = committed(offset, topic_id=fake.existing().topic_id, at_ms=fake.clock.now_ms())
    in_transactions(fake).check(OffsetCommit(group_id, "", None, NO_EPOCH))
    writes: list[OffsetWrite] = [(group_id, "t", index, one)]
    outcomes: list[StorageFailed | None] = []
    in_transactions(fake).add(group_id, producer_id, writes, outcomes.append)
    return outcomes


def complete(fake: FakeBroker, is_committed: bool, producer_id: int = PRODUCER) -> None:
    in_transactions(fake).complete(producer_id, ["g", "h"], is_committed)
    fake.run()


def commit(fake: FakeBroker, producer_id: int = PRODUCER) -> None:
    complete(fake, True, producer_id)


def abort(fake: FakeBroker, producer_id: int = PRODUCER) -> None:
    complete(fake, False, producer_id)


def plain_commit(fake: FakeBroker, offset: int, group_id: str = "g", index: int = 0) -> None:
    """Through the service, as an OffsetCommit request without a member."""
    service = fake.broker.groups.offset_commit
    request = OffsetCommit(group_id, "", None, NO_EPOCH)
    service.begin(request)
    service.check(request)
    service.add(request, fake.existing(), [OffsetCommitRequestPartition(index, offset)])
    service.persist(request, ignore)


def shown(fake: FakeBroker, group_id: str = "g") -> dict[int, int]:
    of_topic = fake.broker.groups.offsets.of(group_id).get("t", {})
    return {index: one.offset for index, one in of_topic.items()}


def is_pending(fake: FakeBroker, index: int = 0) -> bool:
    return in_transactions(fake).is_pending("g", "t", index)


def test_an_offset_is_durable_before_the_response_and_visible_after_the_commit(
    fake: FakeBroker,
) -> None:
    outcomes = add(fake, 5)
    assert outcomes == []
    fake.run()
    assert outcomes == [None]
    for broker in (fake, fake.restarted()):
        assert (shown(broker), is_pending(broker), is_pending(broker, 1)) == ({}, True, False)
    commit(fake)
    for broker in (fake, fake.restarted()):
        assert (shown(broker), is_pending(broker)) == ({0: 5}, False)


def test_an_aborted_offset_leaves_the_committed_one(fake: FakeBroker) -> None:
    plain_commit(fake, 3)
    fake.run()
    add(fake, 5)
    abort(fake)
    for broker in (fake, fake.restarted()):
        assert (shown(broker), is_pending(broker)) == ({0: 3}, False)
    assert not fake.store.tables.get("pending_offsets")


def test_the_last_offset_of_a_transaction_counts(fake: FakeBroker) -> None:
    add(fake, 9)
    add(fake, 5)
    add(fake, 6, index=2)
    commit(fake)
    assert shown(fake) == {0: 5, 2: 6}


def test_offsets_of_other_producers_stay_pending(fake: FakeBroker) -> None:
    add(fake, 5)
    add(fake, 6, OTHER, index=1)
    commit(fake)
    assert (shown(fake), is_pending(fake, 1)) == ({0: 5}, True)
    commit(fake, OTHER)
    assert shown(fake) == {0: 5, 1: 6}


def test_groups_of_one_transaction_are_committed_together(fake: FakeBroker) -> None:
    add(fake, 5)
    add(fake, 6, group_id="h")
    fake.run()
    before = fake.commit.count
    commit(fake)
    assert fake.commit.count == before + 1
    assert (shown(fake), shown(fake, "h")) == ({0: 5}, {0: 6})


@pytest.mark.parametrize("step_back_ms", [0, 5000])
def test_a_later_plain_commit_wins_over_the_transaction(
    fake: FakeBroker, step_back_ms: int
) -> None:
    """Also if the wall clock goes back meanwhile."""
    add(fake, 9)
    fake.clock.jump(-step_back_ms)
    plain_commit(fake, 4)
    fake.run()
    assert (shown(fake), is_pending(fake)) == ({0: 4}, True)
    again = fake.restarted()
    for broker in (again, fake):
        commit(broker)
        assert (shown(broker), is_pending(broker)) == ({0: 4}, False)


def test_an_earlier_plain_commit_loses_also_in_the_same_millisecond(fake: FakeBroker) -> None:
    plain_commit(fake, 4)
    add(fake, 2)
    commit(fake)
    assert shown(fake) == {0: 2}


@pytest.mark.parametrize("order", [(PRODUCER, OTHER), (OTHER, PRODUCER)])
def test_of_two_transactions_the_later_offset_wins_whichever_ends_first(
    fake: FakeBroker, order: tuple[int, int]
) -> None:
    add(fake, 5)
    add(fake, 6, OTHER)
    for producer_id in order:
        assert is_pending(fake)
        commit(fake, producer_id)
    assert (shown(fake), is_pending(fake)) == ({0: 6}, False)


def test_a_failed_commit_leaves_the_transaction_open(fake: FakeBroker) -> None:
    add(fake, 5)
    fake.run()
    fake.commit.fail_next()
    (failed,) = [add(fake, 6, index=1)]
    commit(fake)
    assert isinstance(failed[0], StorageFailed)
    assert (shown(fake), is_pending(fake), is_pending(fake, 1)) == ({}, True, False)
    commit(fake)
    assert shown(fake) == {0: 5}


def test_an_offset_stays_unstable_until_the_end_of_its_transaction_is_durable(
    fake: FakeBroker,
) -> None:
    add(fake, 5)
    fake.run()
    for committed_too in (False, True):
        in_transactions(fake).complete(PRODUCER, ["g"], committed_too)
        assert is_pending(fake)
        fake.run()
        assert not is_pending(fake)
        add(fake, 5)
        fake.run()


def test_deleted_offsets_and_groups_are_deleted_in_open_transactions_too(fake: FakeBroker) -> None:
    groups = fake.broker.groups
    add(fake, 5)
    add(fake, 6, OTHER, index=1)
    fake.run()
    groups.offset_delete.delete(groups.offset_delete.group("g"), [("t", 0)], ignore)
    fake.run()
    assert (is_pending(fake), is_pending(fake, 1)) == (False, True)
    groups.delete_groups.delete(["g"])
    fake.run()
    for broker in (fake.restarted(), fake):
        commit(broker)
        commit(broker, OTHER)
        assert shown(broker) == {}
        assert broker.broker.groups.registry.find("g") is None


def test_a_group_exists_while_a_transaction_has_offsets_of_it(fake: FakeBroker) -> None:
    add(fake, 5)
    fake.run()
    again = fake.restarted()
    assert again.broker.groups.registry.find("g") is not None
    assert again.broker.groups.offsets.has_any("g")


def test_offsets_of_a_deleted_topic_are_deleted_in_open_transactions_too(fake: FakeBroker) -> None:
    add(fake, 5)
    fake.run()
    topic = fake.existing()
    fake.broker.topics.delete_topics.delete([topic])
    fake.run()
    assert not is_pending(fake)
    fake.scheduler.advance(1000)
    assert not fake.store.tables.get("pending_offsets")


def test_an_offset_of_a_deleted_topic_is_not_committed(fake: FakeBroker) -> None:
    add(fake, 5)
    fake.run()
    fake.commit.hold()
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    fake.commit.let_go()
    fake.commit.fail_next()  # with the deletion of the pending offset
    fake.run()
    assert is_pending(fake)
    commit(fake)
    fake.scheduler.advance(10_000)
    assert (is_pending(fake), fake.store.tables.get("offsets", {})) == (False, {})


def test_a_start_deletes_pending_offsets_of_deleted_topics(fake: FakeBroker) -> None:
    add(fake, 5)
    fake.run()
    fake.commit.hold()
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    fake.commit.let_go()
    fake.commit.fail_next()  # with the deletion of the pending offset
    fake.run()
    again = fake.restarted()
    again.commit.fail_next()  # here, too
    again.run()
    assert again.store.tables["pending_offsets"]
    abort(again)
    assert not again.store.tables["pending_offsets"]


def test_an_offset_does_not_expire_while_a_transaction_has_one(fake: FakeBroker) -> None:
    persist_offsets(fake, "g", "t", 0, 1, offset=3)
    fake.run()
    add(fake, 5)
    fake.run()
    fake.broker.start_upkeep()
    fake.clock.jump(8 * 24 * 3_600_000)
    fake.scheduler.advance(700_000)
    assert shown(fake) == {0: 3}
    abort(fake)
    fake.scheduler.advance(700_000)
    assert shown(fake) == {}


def test_an_offset_is_not_skipped_for_a_plain_commit_that_may_fail(fake: FakeBroker) -> None:
    """In a database, which may fail while the log does not."""
    repository = HeldOffsetRepository(leaves_doubt=True)
    groups, broker = fake.broker.groups, fake.broker
    pending = groups.offsets.pending
    offsets = Offsets(repository, groups.registry, broker.catalog, groups.coordinators, pending)
    repository.finish_loading()
    add(fake, 5)
    fake.run()
    later = committed(4, topic_id=fake.existing().topic_id, at_ms=fake.clock.now_ms() + 1)
    in_database = TransactionalOffsets(offsets, groups.registry)
    for failure, expected in ((StorageFailed(), 5), (None, 4)):
        add(fake, 5)
        fake.run()
        offsets.persist("g", [("g", "t", 0, later)], ignore)
        with pytest.raises(CoordinatorNotAvailable):
            in_database.complete(PRODUCER, ["g"], True)
        assert in_database.is_pending("g", "t", 0)
        repository.complete(failure)
        in_database.complete(PRODUCER, ["g"], True)
        fake.run()
        while repository.waiting:
            repository.complete()
        assert offsets.of("g")["t"][0].offset == expected
        later = replace(later, commit_timestamp_ms=later.commit_timestamp_ms + 1)
