from __future__ import annotations

import pytest

from domain.errors import CoordinatorLoadInProgress, GroupIdNotFound, StorageFailed
from domain.groups.embedded_protocol import write_assignment
from tests.fakes.batches import record_batch
from tests.fakes.classic_members import join_all
from tests.fakes.client import FakeKafka
from tests.fakes.mixed_group import classic
from tests.fakes.offset_requests import at, commit


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.topic("a", 1)
    kafka.appended(record_batch(["r"] * 7), "t", 1)
    commit(kafka.client(), "g", ("t", [at(1, 3), at(0, 9)]), ("a", [at(0, 0)]))
    return kafka


def test_lag_is_the_log_end_offset_minus_the_committed_offset(kafka: FakeKafka) -> None:
    service = kafka.broker.groups.lag
    lags = list(service.lags(service.group("g")))
    assert [(lag.topic, lag.partition, lag.lag) for lag in lags] == [
        ("a", 0, 0),
        ("t", 0, 0),  # beyond the end
        ("t", 1, 4),
    ]
    assert all(lag.member is None for lag in lags)
    assert lags[2].current_offset == 3
    assert lags[2].log_end_offset == 7


def test_lag_has_the_member_that_owns_the_partition(kafka: FakeKafka) -> None:
    member = classic(kafka)
    join_all(member)
    member.sync({member.member_id: write_assignment(1, {"t": [1]})})
    service = kafka.broker.groups.lag
    group = service.group("g")
    lag = service.lag(group, "t", 1)
    assert lag is not None and lag.member is not None
    assert lag.member.member_id == member.member_id
    other = service.lag(group, "a", 0)
    assert other is not None and other.member is None
    assert service.lag(group, "a", 1) is None


def test_an_unreadable_partition_has_no_lag(kafka: FakeKafka) -> None:
    kafka.partition("t", 1).broken = StorageFailed("gone")
    kafka.log.failing = StorageFailed("gone")
    service = kafka.broker.groups.lag
    lag = service.lag(service.group("g"), "t", 1)
    assert lag is not None
    assert (lag.current_offset, lag.log_end_offset, lag.lag) == (3, None, None)


def test_a_topic_that_is_deleted_during_the_listing_is_left_out(kafka: FakeKafka) -> None:
    service = kafka.broker.groups.lag
    lags = service.lags(service.group("g"))
    assert next(lags).topic == "a"
    pending = kafka.broker.topics.delete_topics.delete([kafka.existing("t")])
    kafka.run()
    assert pending.resolved
    assert list(lags) == []


def test_an_unknown_group_and_a_group_that_is_being_loaded_are_refused(kafka: FakeKafka) -> None:
    with pytest.raises(GroupIdNotFound):
        kafka.broker.groups.lag.group("h")
    kafka.broker.groups.offsets.loaded = False
    with pytest.raises(CoordinatorLoadInProgress):
        kafka.broker.groups.lag.group("g")
