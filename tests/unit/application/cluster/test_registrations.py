from __future__ import annotations

import pytest

from application.cluster.registrations import Changed, Registrations
from domain.cluster.registration import PartitionRegistration
from tests.fakes.shared_store import SharedBroker, SharedStore

LED_BY_1 = PartitionRegistration((1, 2), 1, 0)
LED_BY_2 = PartitionRegistration((1, 2), 2, 1)


@pytest.fixture
def shared() -> SharedStore:
    shared = SharedStore()
    shared.start(1)
    shared.start(2)
    return shared


def of(broker: SharedBroker) -> Registrations:
    assert broker.core.registrations is not None
    return broker.core.registrations


def test_a_change_is_visible_when_it_is_durable(shared: SharedStore) -> None:
    one, two = shared.brokers[1], shared.brokers[2]
    one.commit.hold()
    of(one).save([(7, LED_BY_1)])
    of(one).save([(7, LED_BY_2)])
    one.scheduler.run()
    assert of(one).get(7) is None
    assert of(one).find(7) == LED_BY_2
    one.commit.let_go()
    shared.run()
    assert of(one).get(7) == of(one).find(7) == LED_BY_2
    assert of(two).get(7) == LED_BY_2


def test_a_lost_change_was_never_visible(shared: SharedStore) -> None:
    one = shared.brokers[1]
    of(one).save([(7, LED_BY_1)])
    shared.run()
    failures: list[object] = []
    one.commit.fail_next()
    of(one).save([(7, LED_BY_2)], failures.append)
    assert of(one).find(7) == LED_BY_2
    shared.run()
    assert of(one).find(7) == of(one).get(7) == LED_BY_1
    assert len(failures) == 1 and failures[0] is not None


def test_one_call_reports_all_changes_of_a_commit(shared: SharedStore) -> None:
    calls: list[list[Changed]] = []
    for broker in shared.brokers.values():
        of(broker).on_changed(lambda changes: calls.append(list(changes)))
    of(shared.brokers[1]).save([(7, LED_BY_1), (8, LED_BY_2)])
    shared.run()
    assert calls == [[Changed(7, None, LED_BY_1), Changed(8, None, LED_BY_2)]] * 2
    of(shared.brokers[2]).save([(7, None), (8, LED_BY_2)])
    shared.run()
    assert calls[2:] == [[Changed(7, LED_BY_1, None)]] * 2
    assert list(of(shared.brokers[1])) == [8]


def test_new_epochs_are_those_that_a_lost_change_cannot_have(shared: SharedStore) -> None:
    one = shared.brokers[1]
    of(one).save([(7, LED_BY_1)])
    shared.run()
    one.changes.first_epoch = 1000
    moved = LED_BY_1._replace(target=(2, 1))
    of(one).save([(7, moved), (8, LED_BY_1), (9, None)])
    assert of(one).find(7) == moved
    assert of(one).find(8) == LED_BY_1._replace(leader_epoch=1000)
    of(one).save([(7, LED_BY_2), (8, LED_BY_1.raised())])
    of(one).save([(8, LED_BY_1._replace(leader_epoch=1001))])
    shared.run()
    assert of(shared.brokers[2]).find(7) == LED_BY_2._replace(leader_epoch=1000)
    assert of(shared.brokers[2]).find(8) == LED_BY_1._replace(leader_epoch=1001)
