from __future__ import annotations

import pytest

from application.groups.offsets import GroupOffsets, Offsets
from application.ports.offset_repository import OffsetWrite
from application.state.runtime import ignore
from domain.errors import CoordinatorLoadInProgress, StorageFailed
from domain.groups.classic.group import ClassicGroup
from domain.groups.group import GroupDeleted, GroupKind
from domain.groups.offsets import CommittedOffset
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.groups import committed
from tests.fakes.offsets import HeldOffsetRepository


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic(3)


def write(fake: FakeBroker, offset: int | None, group_id: str = "g", index: int = 0) -> OffsetWrite:
    topic_id = fake.existing().topic_id
    return (group_id, "t", index, None if offset is None else committed(offset, topic_id=topic_id))


def shown(offsets: GroupOffsets) -> dict[str, dict[int, int]]:
    return {t: {i: one.offset for i, one in found.items()} for t, found in offsets.items()}


def persist(fake: FakeBroker, *writes: OffsetWrite) -> list[StorageFailed | None]:
    outcomes: list[StorageFailed | None] = []
    fake.broker.groups.offsets.persist(writes[0][0], writes, outcomes.append)
    return outcomes


def persisted(fake: FakeBroker, *writes: OffsetWrite) -> None:
    persist(fake, *writes)
    fake.run()


def test_a_commit_is_visible_when_it_is_durable(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    outcomes = persist(fake, write(fake, 5))
    assert (shown(offsets.of("g")), outcomes) == ({}, [])
    fake.run()
    assert (shown(offsets.of("g")), outcomes) == ({"t": {0: 5}}, [None])


def test_a_failed_commit_is_never_visible(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    persisted(fake, write(fake, 5))
    fake.commit.fail_next()
    outcomes = persist(fake, write(fake, 6), write(fake, 6, index=1))
    fake.run()
    assert isinstance(outcomes[0], StorageFailed)
    assert shown(offsets.of("g")) == {"t": {0: 5}}
    assert not offsets.has_pending_commit("g")


def test_offset_commits_of_one_pass_share_a_transaction(fake: FakeBroker) -> None:
    before = fake.commit.count
    for name in ("g", "h", "i"):
        persist(fake, write(fake, 5, name))
    fake.run()
    assert fake.commit.count == before + 1
    assert sorted(fake.broker.groups.offsets.group_ids()) == ["g", "h", "i"]


def test_a_later_commit_replaces_an_earlier_one_also_with_a_smaller_offset(
    fake: FakeBroker,
) -> None:
    for offset in (9, 3, -4):
        persist(fake, write(fake, offset))
    fake.run()
    for broker in (fake, fake.restarted()):
        assert shown(broker.broker.groups.offsets.of("g")) == {"t": {0: -4}}


def test_a_group_without_offsets_is_not_listed(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    persisted(fake, write(fake, 5), write(fake, 5, index=1))
    persisted(fake, write(fake, None), write(fake, None, index=2))
    assert shown(offsets.of("g")) == {"t": {1: 5}}
    persist(fake, write(fake, None, index=1))
    assert offsets.holds("g")
    fake.run()
    assert not offsets.holds("g")
    assert offsets.group_ids() == []


def test_partitions_are_listed_by_topic_and_once(fake: FakeBroker) -> None:
    fake.topic("u", 3)
    offsets, topic_id = fake.broker.groups.offsets, fake.existing("u").topic_id
    both: list[OffsetWrite] = [
        one
        for index in range(3)
        for one in (write(fake, 5, index=index), ("g", "u", index, committed(5, topic_id=topic_id)))
    ]
    persisted(fake, *both)
    persist(fake, write(fake, 6, index=1))
    assert [topic for topic, _ in offsets.partitions("g")] == ["t"] * 3 + ["u"] * 3
    assert len(set(offsets.partitions("g"))) == 6


def test_a_group_with_offsets_always_exists(fake: FakeBroker) -> None:
    groups = fake.broker.groups.registry
    persist(fake, write(fake, 5))
    groups.put(ClassicGroup("g"))
    groups.remove("g")  # while the commit is pending
    assert groups.find("g") is not None
    fake.run()
    groups.apply("g", [GroupDeleted("g")])
    fake.run()
    group = groups.find("g")
    assert group is not None and group.is_empty and group.kind is GroupKind.CLASSIC


def test_a_group_is_deleted_while_its_last_offset_is_being_deleted(fake: FakeBroker) -> None:
    groups = fake.broker.groups.registry
    groups.put(ClassicGroup("g"))
    persisted(fake, write(fake, 5))
    fake.commit.hold()
    persist(fake, write(fake, None))
    groups.apply("g", [GroupDeleted("g")])
    fake.run()
    assert groups.find("g") is None
    fake.commit.let_fail()
    assert groups.find("g") is not None


def test_pending_commits_are_listed_for_deletions(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    persisted(fake, write(fake, 5))
    persist(fake, write(fake, 6), write(fake, 6, index=2))
    assert sorted(offsets.partitions("g")) == [("t", 0), ("t", 2)]
    assert offsets.has_pending_commit("g")


def test_a_restart_loads_offsets_and_their_groups(fake: FakeBroker) -> None:
    name = "a group/\n"
    whole = CommittedOffset(2**62, 3, "a note \0 ü", 17, 99, fake.existing().topic_id)
    persisted(fake, (name, "t", 2, whole))
    again = fake.restarted().broker.groups
    assert again.offsets.loaded
    assert again.offsets.of(name) == {"t": {2: whole}}
    group = again.registry.find(name)
    assert group is not None
    assert (group.is_empty, group.protocol_type) == (True, "")


def test_a_restart_drops_offsets_of_a_deleted_topic_of_the_same_name(fake: FakeBroker) -> None:
    old = committed(5, topic_id=b"\7" * 16)
    persist(fake, ("g", "t", 0, old), ("g", "gone", 1, old))
    persisted(fake, write(fake, 4, "h"))
    again = fake.restarted().broker.groups
    assert again.offsets.group_ids() == ["h"]
    assert again.registry.find("g") is None
    assert sorted(again.offsets.stale) == [("g", "gone", 1, None), ("g", "t", 0, None)]


def held(fake: FakeBroker) -> tuple[Offsets, HeldOffsetRepository]:
    """Offsets over a store whose loads and writes the test completes."""
    repository = HeldOffsetRepository(leaves_doubt=True)
    groups = fake.broker.groups
    offsets = Offsets(
        repository,
        groups.registry,
        fake.broker.catalog,
        groups.coordinators,
        groups.offsets.pending,
    )
    return offsets, repository


def loaded(fake: FakeBroker) -> tuple[Offsets, HeldOffsetRepository]:
    offsets, repository = held(fake)
    repository.finish_loading()
    return offsets, repository


def test_offsets_are_visible_when_all_are_loaded(fake: FakeBroker) -> None:
    offsets, repository = held(fake)
    repository.load_rows([("g", "t", 1, committed(5, topic_id=fake.existing().topic_id))])
    with pytest.raises(CoordinatorLoadInProgress):
        offsets.check_loaded()
    assert fake.broker.groups.registry.find("g") is None
    repository.finish_loading()
    offsets.check_loaded()
    assert shown(offsets.of("g")) == {"t": {1: 5}}
    assert fake.broker.groups.registry.find("g") is not None


def test_writes_of_unknown_outcome_are_repeated(fake: FakeBroker) -> None:
    """As soon as a write succeeds: the lost response may have been a success."""
    offsets, repository = loaded(fake)
    offsets.persist("g", [write(fake, 5)], ignore)
    repository.complete()
    offsets.persist("g", [write(fake, 6), write(fake, 6, index=1)], ignore)
    repository.complete(StorageFailed("the server went away"))
    assert not repository.waiting
    offsets.persist("h", [write(fake, 1, "h")], ignore)
    repository.complete()
    repeated = sorted(repository.complete(StorageFailed("again")), key=lambda one: one[:3])
    assert repeated == [write(fake, 5), write(fake, None, index=1)]
    assert not repository.waiting
    offsets.persist("h", [write(fake, 2, "h")], ignore)
    repository.complete()
    assert sorted(repository.complete(), key=lambda one: one[:3]) == repeated
    assert not repository.waiting


def test_a_later_write_of_an_offset_is_not_repeated(fake: FakeBroker) -> None:
    offsets, repository = loaded(fake)
    offsets.persist("g", [write(fake, 6), write(fake, 6, index=1)], ignore)
    offsets.persist("g", [write(fake, 7)], ignore)
    offsets.persist("g", [write(fake, 8, index=1)], ignore)
    repository.complete(StorageFailed("the server went away"))
    repository.complete()
    repository.complete()
    assert not repository.waiting
    assert shown(offsets.of("g")) == {"t": {0: 7, 1: 8}}


def test_a_write_that_fails_out_of_order_fails_alone(fake: FakeBroker) -> None:
    """The queue is full, so it fails at once, before earlier ones are complete."""
    offsets, repository = loaded(fake)
    offsets.persist("g", [write(fake, 6)], ignore)
    offsets.persist("g", [write(fake, 7)], ignore)
    repository.waiting.rotate(1)
    repository.complete(StorageFailed("no room"))
    assert offsets.has_pending_commit("g")
    assert list(offsets.partitions("g")) == [("t", 0)]
    repository.complete()
    assert shown(offsets.of("g")) == {"t": {0: 6}}
