from __future__ import annotations

import pytest

from application.summaries import Summaries
from domain.errors import StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeKafka
from tests.fakes.offset_requests import at, commit


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.appended(record_batch(["r"] * 10), "t", 0)
    commit(kafka.client(), "g", ("t", [at(0, 4)]))
    return kafka


@pytest.fixture
def summaries(kafka: FakeKafka) -> Summaries:
    broker = kafka.broker
    return Summaries(broker.catalog, broker.groups.registry, broker.groups.offsets)


def test_a_topic_that_is_deleted_meanwhile_has_no_record_count(
    kafka: FakeKafka, summaries: Summaries
) -> None:
    kafka.topic("u")
    going = summaries.topics()
    first = next(going)
    for topic in list(kafka.broker.catalog):
        kafka.broker.catalog.remove(topic)
    assert first.records == 10
    [gone] = going
    assert (gone.topic.name, gone.records) == ("u", None)


def test_an_unreadable_partition_has_no_lag(kafka: FakeKafka, summaries: Summaries) -> None:
    assert summaries.lag_in("g", "t") == 6
    assert list(summaries.lags_by_topic()) == [("t", 6)]
    kafka.partition("t", 0).broken = StorageFailed("torn")
    kafka.log.failing = StorageFailed("torn")
    assert summaries.lag_in("g", "t") == 0
    [group] = summaries.groups()
    assert (group.topics, group.lag) == (1, 0)


def test_a_group_has_lag_only_in_topics_with_committed_offsets(summaries: Summaries) -> None:
    assert summaries.lag_in("g", "u") is None
    assert summaries.lag_in("h", "t") is None
    assert [group.group_id for group in summaries.groups_of("t")] == ["g"]
    assert list(summaries.groups_of("u")) == []
    assert summaries.committed_in("g", "t") == 1
