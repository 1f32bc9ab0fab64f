from __future__ import annotations

import pytest

from application.groups.offsets import GroupOffsets, Offsets
from application.ports.offset_repository import OffsetWrite
from domain.errors import CoordinatorLoadInProgress, StorageFailed
from domain.groups.classic.group import ClassicGroup
from domain.groups.group import GroupDeleted, GroupKind
from domain.groups.offsets import CommittedOffset
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import committed
from tests.fakes.offsets import HeldOffsetRepository


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t", 3)
    return fake


def write(fake: FakeBroker, offset: int | None, group_id: str = "g", index: int = 0) -> OffsetWrite:
    topic_id = fake.existing().topic_id
    return (group_id, "t", index, None if offset is None else committed(offset, topic_id=topic_id))


def shown(offsets: GroupOffsets) -> dict[str, dict[int, int]]:
    return {t: {i: one.offset for i, one in found.items()} for t, found in offsets.items()}


def test_a_commit_is_read_when_it_is_durable_and_not_before(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    told: list[StorageFailed | None] = []
    offsets.persist("g", [write(fake, 5)], told.append)
    assert (shown(offsets.of("g")), told) == ({}, [])
    fake.run()
    assert (shown(offsets.of("g")), told) == ({"t": {0: 5}}, [None])


def test_what_could_not_be_kept_is_never_read(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    offsets.persist("g", [write(fake, 5)], lambda failure: None)
    fake.run()
    fake.commit.fail_next()
    told: list[StorageFailed | None] = []
    offsets.persist("g", [write(fake, 6), write(fake, 6, index=1)], told.append)
    fake.run()
    assert isinstance(told[0], StorageFailed)
    assert shown(offsets.of("g")) == {"t": {0: 5}}
    assert not offsets.has_pending_commit("g")


def test_commits_of_one_pass_share_a_commit(fake: FakeBroker) -> None:
    before = fake.commit.count
    for name in ("g", "h", "i"):
        fake.broker.groups.offsets.persist(name, [write(fake, 5, name)], lambda failure: None)
    fake.run()
    assert fake.commit.count == before + 1
    assert sorted(fake.broker.groups.offsets.group_ids()) == ["g", "h", "i"]


def test_a_later_commit_takes_the_place_of_an_earlier_one_whatever_its_offset(
    fake: FakeBroker,
) -> None:
    offsets = fake.broker.groups.offsets
    for offset in (9, 3, -4):
        offsets.persist("g", [write(fake, offset)], lambda failure: None)
    fake.run()
    assert shown(offsets.of("g")) == {"t": {0: -4}}
    assert shown(fake.restarted().broker.groups.offsets.of("g")) == {"t": {0: -4}}


def test_a_group_without_offsets_is_nowhere(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    offsets.persist("g", [write(fake, 5), write(fake, 5, index=1)], lambda failure: None)
    fake.run()
    offsets.persist("g", [write(fake, None), write(fake, None, index=2)], lambda failure: None)
    fake.run()
    assert shown(offsets.of("g")) == {"t": {1: 5}}
    offsets.persist("g", [write(fake, None, index=1)], lambda failure: None)
    assert offsets.holds("g")
    fake.run()
    assert not offsets.holds("g")
    assert offsets.group_ids() == []


def test_offsets_of_a_topic_are_named_together_and_none_twice(fake: FakeBroker) -> None:
    fake.topic("u", 3)
    offsets, topic_id = fake.broker.groups.offsets, fake.existing("u").topic_id
    both: list[OffsetWrite] = [
        one
        for index in range(3)
        for one in (write(fake, 5, index=index), ("g", "u", index, committed(5, topic_id=topic_id)))
    ]
    offsets.persist("g", both, lambda failure: None)
    fake.run()
    offsets.persist("g", [write(fake, 6, index=1)], lambda failure: None)
    assert [topic for topic, _ in offsets.partitions("g")] == ["t"] * 3 + ["u"] * 3
    assert len(set(offsets.partitions("g"))) == 6


def test_whatever_becomes_of_a_group_there_is_one_where_offsets_are(fake: FakeBroker) -> None:
    offsets, groups = fake.broker.groups.offsets, fake.broker.groups.registry
    offsets.persist("g", [write(fake, 5)], lambda failure: None)
    groups.put(ClassicGroup("g"))
    groups.remove("g")  # it may yet be kept
    assert groups.find("g") is not None
    fake.run()
    groups.apply("g", [GroupDeleted("g")])
    fake.run()
    group = groups.find("g")
    assert group is not None and group.is_empty and group.kind is GroupKind.CLASSIC


def test_a_group_is_gone_when_the_last_of_its_offsets_is_about_to_go(fake: FakeBroker) -> None:
    offsets, groups = fake.broker.groups.offsets, fake.broker.groups.registry
    groups.put(ClassicGroup("g"))
    offsets.persist("g", [write(fake, 5)], lambda failure: None)
    fake.run()
    fake.commit.hold()
    offsets.persist("g", [write(fake, None)], lambda failure: None)
    groups.apply("g", [GroupDeleted("g")])
    fake.run()
    assert groups.find("g") is None
    fake.commit.let_fail()
    assert groups.find("g") is not None


def test_what_is_under_way_is_seen_by_who_deletes(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    offsets.persist("g", [write(fake, 5)], lambda failure: None)
    fake.run()
    offsets.persist("g", [write(fake, 6), write(fake, 6, index=2)], lambda failure: None)
    assert sorted(offsets.partitions("g")) == [("t", 0), ("t", 2)]
    assert offsets.has_pending_commit("g")


def test_offsets_are_there_after_a_restart_and_their_groups_too(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    topic_id = fake.existing().topic_id
    whole = CommittedOffset(2**62, 3, "a note \0 ü", 17, 99, topic_id)
    offsets.persist("a group/\n", [("a group/\n", "t", 2, whole)], lambda failure: None)
    fake.run()
    again = fake.restarted().broker
    assert again.groups.offsets.loaded
    assert again.groups.offsets.of("a group/\n") == {"t": {2: whole}}
    group = again.groups.registry.find("a group/\n")
    assert group is not None
    assert (group.is_empty, group.protocol_type) == (True, "")


def test_offsets_of_a_topic_that_was_made_anew_are_not_taken_over(fake: FakeBroker) -> None:
    offsets = fake.broker.groups.offsets
    old = committed(5, topic_id=b"\7" * 16)
    offsets.persist("g", [("g", "t", 0, old), ("g", "gone", 1, old)], lambda failure: None)
    offsets.persist("h", [write(fake, 4, "h")], lambda failure: None)
    fake.run()
    again = fake.restarted().broker
    assert again.groups.offsets.group_ids() == ["h"]
    assert again.groups.registry.find("g") is None
    assert sorted(again.groups.offsets.stale) == [("g", "gone", 1, None), ("g", "t", 0, None)]


def test_nothing_is_known_before_all_is_loaded(fake: FakeBroker) -> None:
    repository = HeldOffsetRepository()
    offsets = Offsets(
        repository, fake.broker.groups.registry, fake.broker.catalog, fake.broker.placement
    )
    repository.give([("g", "t", 1, committed(5, topic_id=fake.existing().topic_id))])
    with pytest.raises(CoordinatorLoadInProgress):
        offsets.check_loaded()
    assert fake.broker.groups.registry.find("g") is None
    repository.give_all()
    offsets.check_loaded()
    assert shown(offsets.of("g")) == {"t": {1: 5}}
    assert fake.broker.groups.registry.find("g") is not None


def held(fake: FakeBroker) -> tuple[Offsets, HeldOffsetRepository]:
    repository = HeldOffsetRepository(leaves_doubt=True)
    offsets = Offsets(
        repository, fake.broker.groups.registry, fake.broker.catalog, fake.broker.placement
    )
    repository.give_all()
    return offsets, repository


def ignore(failure: StorageFailed | None) -> None:
    """Nobody waits."""


def test_what_is_in_doubt_is_written_as_it_is_known(fake: FakeBroker) -> None:
    """As soon as anything can be kept again; an answer may be lost that said: it is kept."""
    offsets, repository = held(fake)
    offsets.persist("g", [write(fake, 5)], ignore)
    repository.keep()
    offsets.persist("g", [write(fake, 6), write(fake, 6, index=1)], ignore)
    repository.keep(StorageFailed("the server went away"))
    assert not repository.waiting
    offsets.persist("h", [write(fake, 1, "h")], ignore)
    repository.keep()
    said = sorted(repository.keep(StorageFailed("again")), key=lambda one: one[:3])
    assert said == [write(fake, 5), write(fake, None, index=1)]
    assert not repository.waiting
    offsets.persist("h", [write(fake, 2, "h")], ignore)
    repository.keep()
    assert sorted(repository.keep(), key=lambda one: one[:3]) == said
    assert not repository.waiting


def test_what_is_written_again_is_in_doubt_no_more(fake: FakeBroker) -> None:
    offsets, repository = held(fake)
    offsets.persist("g", [write(fake, 6), write(fake, 6, index=1)], ignore)
    offsets.persist("g", [write(fake, 7)], ignore)
    offsets.persist("g", [write(fake, 8, index=1)], ignore)
    repository.keep(StorageFailed("the server went away"))
    repository.keep()
    repository.keep()
    assert not repository.waiting
    assert shown(offsets.of("g")) == {"t": {0: 7, 1: 8}}


def test_what_fails_out_of_turn_fails_alone(fake: FakeBroker) -> None:
    """Too much waits already: it is told at once, before those that came first."""
    offsets, repository = held(fake)
    offsets.persist("g", [write(fake, 6)], ignore)
    offsets.persist("g", [write(fake, 7)], ignore)
    repository.waiting.rotate(1)
    repository.keep(StorageFailed("no room"))
    assert offsets.has_pending_commit("g")
    assert list(offsets.partitions("g")) == [("t", 0)]
    repository.keep()
    assert shown(offsets.of("g")) == {"t": {0: 6}}
