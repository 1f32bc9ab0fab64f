"""Fetch of records that are not in memory."""

from __future__ import annotations

import pytest

from application.ports.pending import Pending
from domain.errors import (
    OffsetOutOfRange,
    StorageFailed,
    UnknownTopicOrPartition,
)
from tests.fakes.broker import FakeBroker
from tests.unit.application.partitions.test_fetch import Fetch, fill, item, query


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t", 3)
    return fake


@pytest.fixture
def cold(fake: FakeBroker) -> FakeBroker:
    fill(fake, 0)
    fake.log.loading = Pending()
    return fake


@pytest.mark.parametrize("wait_ms", [0, 500])
def test_a_fetch_waits_for_records_that_are_not_in_memory(cold: FakeBroker, wait_ms: int) -> None:
    fetch = Fetch(cold, query(item(0), wait_ms=wait_ms))
    cold.scheduler.advance(1000)
    assert fetch.waits
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]
    assert cold.scheduler.timers == []


def test_pages_that_are_evicted_are_loaded_again(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    first, cold.log.loading = cold.log.loading, Pending()
    assert first is not None
    first.resolve(None)
    assert fetch.waits
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]


def test_a_fetch_ends_after_its_time_with_what_is_in_memory(fake: FakeBroker) -> None:
    fill(fake, 0)
    fill(fake, 1)
    fake.log.loading, fake.log.loading_of = Pending(), fake.partition("t", 1).partition_id
    fetch = Fetch(fake, query(item(0), item(1), wait_ms=500))
    assert fetch.waits
    fake.scheduler.advance(500)
    assert fetch.offsets() == [[0, 2, 4], []]
    assert fetch.got is not None and fetch.got[1].high_watermark == 6
    fake.log.load()


def test_a_topic_can_be_deleted_while_it_is_loaded(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    cold.broker.topics.delete_topics.delete([cold.existing()])
    cold.run()
    cold.log.load()
    assert fetch.errors() == [UnknownTopicOrPartition]


def test_an_abandoned_fetch_that_loads_leaves_no_timer(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    assert fetch.pending is not None
    fetch.pending.abandon()
    assert cold.scheduler.timers == []
    cold.log.load()
    assert fetch.waits


def test_a_stopping_broker_does_not_load(cold: FakeBroker) -> None:
    cold.broker.messages.fetch.release()
    assert Fetch(cold, query(item(0))).offsets() == [[]]
    assert Fetch(cold, query(item(1, offset=99))).errors() == [OffsetOutOfRange]


def test_the_time_of_a_fetch_includes_loading(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0), wait_ms=500, min_bytes=1 << 20))
    cold.scheduler.advance(300)
    cold.log.load()
    assert fetch.waits
    cold.scheduler.advance(200)
    assert fetch.offsets() == [[0, 2, 4]]


def test_an_error_ends_the_wait_for_another_partition(cold: FakeBroker) -> None:
    cold.log.loading_of = cold.partition("t", 0).partition_id
    fetch = Fetch(cold, query(item(0), item(1, offset=99)))
    assert fetch.errors() == [None, OffsetOutOfRange]


def test_the_first_fetch_of_a_partition_waits_for_its_log(fake: FakeBroker) -> None:
    fill(fake, 0)
    fake.log.loading, fake.log.loading_of = Pending(), fake.existing().partition_ids[1]
    fetch = Fetch(fake, query(item(0), item(1, offset=99), wait_ms=500))
    fake.scheduler.advance(500)
    assert fetch.waits, "where its log begins and ends is not known"
    fake.log.load()
    assert fetch.errors() == [None, OffsetOutOfRange]


def test_a_broken_partition_is_read_again_at_once(cold: FakeBroker) -> None:
    partition = cold.partition("t", 0)
    partition.broken = StorageFailed("the disk is full")
    fetch = Fetch(cold, query(item(0)))
    assert partition.broken is None and partition.high_watermark == 6
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]
