from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.classic.group import ClassicGroup
from domain.groups.group import GroupDeleted
from infrastructure.storage.repositories.group_repository import StoredGroupRepository
from tests.fakes.broker import FakeBroker

Outcomes = list[StorageFailed | None]


@pytest.fixture
def broker() -> FakeBroker:
    return FakeBroker()


def generation(number: int) -> GroupMetadataChanged:
    return GroupMetadataChanged("g", Image(number, "consumer", "range", None, 0, (), True))


def keep(broker: FakeBroker, number: int) -> Outcomes:
    outcomes: Outcomes = []
    broker.broker.groups.registry.apply("g", [generation(number)])
    broker.broker.groups.registry.runtime.when_durable("g", outcomes.append)
    return outcomes


def known(broker: FakeBroker) -> int:
    group = broker.broker.groups.registry.find("g")
    assert isinstance(group, ClassicGroup)
    return group.generation_id


def test_a_change_holds_at_once_and_is_told_when_it_is_kept(broker: FakeBroker) -> None:
    outcomes = keep(broker, 3)
    assert known(broker) == 3 and outcomes == []
    broker.run()
    assert outcomes == [None]


def test_what_is_kept_is_there_after_a_restart(broker: FakeBroker) -> None:
    keep(broker, 3)
    broker.run()
    assert known(broker.restarted()) == 3


def test_a_change_that_is_not_kept_has_not_happened(broker: FakeBroker) -> None:
    lost: list[str] = []
    broker.broker.groups.registry.on_reloaded(lost.append)
    keep(broker, 3)
    broker.run()
    broker.commit.fail_next()
    outcomes = keep(broker, 4)
    assert known(broker) == 4
    broker.run()
    assert known(broker) == 3 and lost == ["g"]
    assert isinstance(outcomes[0], StorageFailed)


def test_a_new_group_that_is_not_kept_was_never_there(broker: FakeBroker) -> None:
    broker.commit.fail_next()
    keep(broker, 1)
    broker.run()
    assert broker.broker.groups.registry.find("g") is None


def test_what_is_decided_while_a_commit_is_under_way_falls_with_it(broker: FakeBroker) -> None:
    keep(broker, 3)
    broker.run()
    broker.commit.hold()
    first = keep(broker, 4)
    broker.run()
    second = keep(broker, 5)
    broker.commit.let_fail()
    broker.run()
    assert known(broker) == 3
    assert isinstance(first[0], StorageFailed) and isinstance(second[0], StorageFailed)


def test_a_group_that_is_deleted_is_gone_at_once_and_after_a_restart(broker: FakeBroker) -> None:
    keep(broker, 3)
    broker.run()
    group = broker.broker.groups.registry.find("g")
    assert group is not None
    broker.broker.groups.registry.apply("g", group.deletion())
    assert broker.broker.groups.registry.find("g") is None
    broker.run()
    assert len(broker.restarted().broker.groups.registry) == 0


def test_a_deletion_that_is_not_kept_leaves_the_group(broker: FakeBroker) -> None:
    keep(broker, 3)
    broker.run()
    broker.commit.fail_next()
    broker.broker.groups.registry.apply("g", [GroupMetadataChanged("g", None), GroupDeleted("g")])
    broker.run()
    assert known(broker) == 3


def test_a_group_is_made_again_once_however_much_of_it_is_lost(broker: FakeBroker) -> None:
    keep(broker, 3)
    broker.run()
    lost: list[str] = []
    broker.broker.groups.registry.on_reloaded(lost.append)
    for round_ in (1, 2):
        broker.commit.hold()
        outcomes = [keep(broker, 4), keep(broker, 5)]
        broker.run()
        outcomes.append(keep(broker, 6))
        broker.commit.let_fail()
        broker.run()
        assert lost == ["g"] * round_ and known(broker) == 3
        assert all(isinstance(one[0], StorageFailed) for one in outcomes)


def test_what_is_decided_on_hearing_of_a_failure_is_not_lost_with_it(broker: FakeBroker) -> None:
    keep(broker, 3)
    broker.run()
    broker.commit.fail_next()
    again: list[Outcomes] = []
    groups = broker.broker.groups.registry
    groups.apply("g", [generation(4)])
    groups.runtime.when_durable("g", lambda failure: again.append(keep(broker, 7)))
    keep(broker, 5)
    broker.run()
    assert known(broker) == 7 and again == [[None]]
    assert known(broker.restarted()) == 7


def test_who_waits_is_told_also_where_the_store_cannot_be_read(
    broker: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(repository: object, group_id: str) -> list[GroupMetadataChanged]:
        raise StorageFailed("the disk is gone")

    monkeypatch.setattr(StoredGroupRepository, "load", unreadable)
    broker.commit.fail_next()
    outcomes = keep(broker, 1)
    with pytest.raises(StorageFailed, match="gone"):
        broker.run()
    assert isinstance(outcomes[0], StorageFailed)


def test_who_waits_for_a_change_does_not_wait_for_those_after_it(broker: FakeBroker) -> None:
    groups = broker.broker.groups.registry
    outcomes: Outcomes = []
    groups.runtime.when_durable("g", outcomes.append)
    assert outcomes == [None] and "g" not in groups.runtime
    broker.commit.hold()
    keep(broker, 3)
    broker.run()
    groups.runtime.when_durable("g", outcomes.append)
    keep(broker, 4)
    assert outcomes == [None] and "g" in groups.runtime
    broker.commit.let_go()
    assert outcomes == [None, None] and "g" in groups.runtime
    broker.run()
    assert "g" not in groups.runtime
