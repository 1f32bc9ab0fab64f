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


def changed(number: int) -> GroupMetadataChanged:
    return GroupMetadataChanged("g", Image(number, "consumer", "range", None, 0, (), True))


def persist(broker: FakeBroker, number: int) -> Outcomes:
    outcomes: Outcomes = []
    broker.broker.groups.registry.apply("g", [changed(number)])
    broker.broker.groups.registry.runtime.when_durable("g", outcomes.append)
    return outcomes


def generation_of(broker: FakeBroker) -> int:
    group = broker.broker.groups.registry.find("g")
    assert isinstance(group, ClassicGroup)
    return group.generation_id


def test_a_change_applies_at_once_and_survives_a_restart(broker: FakeBroker) -> None:
    outcomes = persist(broker, 3)
    assert generation_of(broker) == 3 and outcomes == []
    broker.run()
    assert outcomes == [None]
    assert generation_of(broker.restarted()) == 3


def test_a_new_group_whose_commit_fails_is_removed(broker: FakeBroker) -> None:
    broker.commit.fail_next()
    persist(broker, 1)
    broker.run()
    assert broker.broker.groups.registry.find("g") is None


def test_a_deleted_group_is_gone_at_once_and_after_a_restart(broker: FakeBroker) -> None:
    persist(broker, 3)
    broker.run()
    groups = broker.broker.groups.registry
    groups.apply("g", groups.existing("g").deletion())
    assert groups.find("g") is None
    broker.run()
    assert len(broker.restarted().broker.groups.registry) == 0


def test_a_deletion_whose_commit_fails_is_undone(broker: FakeBroker) -> None:
    persist(broker, 3)
    broker.run()
    broker.commit.fail_next()
    broker.broker.groups.registry.apply("g", [GroupMetadataChanged("g", None), GroupDeleted("g")])
    broker.run()
    assert generation_of(broker) == 3


def test_a_failed_commit_reloads_the_group_once_with_all_later_changes(broker: FakeBroker) -> None:
    persist(broker, 3)
    broker.run()
    reloaded: list[str] = []
    broker.broker.groups.registry.on_reloaded(reloaded.append)
    for round_ in (1, 2):
        broker.commit.hold()
        outcomes = [persist(broker, 4), persist(broker, 5)]
        broker.run()
        outcomes.append(persist(broker, 6))
        assert generation_of(broker) == 6
        broker.commit.let_fail()
        broker.run()
        assert reloaded == ["g"] * round_ and generation_of(broker) == 3
        assert all(isinstance(one[0], StorageFailed) for one in outcomes)


def test_pending_requests_fail_also_if_the_store_cannot_be_read(
    broker: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(repository: object, group_id: str) -> list[GroupMetadataChanged]:
        raise StorageFailed("the disk is gone")

    monkeypatch.setattr(StoredGroupRepository, "load", unreadable)
    broker.commit.fail_next()
    outcomes = persist(broker, 1)
    with pytest.raises(StorageFailed, match="gone"):
        broker.run()
    assert isinstance(outcomes[0], StorageFailed)


def test_a_response_does_not_wait_for_later_changes(broker: FakeBroker) -> None:
    groups = broker.broker.groups.registry
    outcomes: Outcomes = []
    groups.runtime.when_durable("g", outcomes.append)
    assert outcomes == [None] and "g" not in groups.runtime
    broker.commit.hold()
    persist(broker, 3)
    broker.run()
    groups.runtime.when_durable("g", outcomes.append)
    persist(broker, 4)
    assert outcomes == [None] and "g" in groups.runtime
    broker.commit.let_go()
    assert outcomes == [None, None] and "g" in groups.runtime
    broker.run()
    assert "g" not in groups.runtime
