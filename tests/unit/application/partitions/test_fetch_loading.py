"""Fetch where records are not in memory."""

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


def test_records_that_are_not_in_memory_are_waited_for(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    assert fetch.waits
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]
    assert cold.scheduler.timers == []


def test_what_is_evicted_again_is_loaded_again(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    first, cold.log.loading = cold.log.loading, Pending()
    assert first is not None
    first.resolve(None)
    assert fetch.waits
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]


def test_after_its_time_a_fetch_gets_what_is_in_memory(fake: FakeBroker) -> None:
    fill(fake, 0)
    fill(fake, 1)
    fake.log.loading, fake.log.loading_of = Pending(), fake.partition("t", 1).partition_id
    fetch = Fetch(fake, query(item(0), item(1), wait_ms=500))
    assert fetch.waits
    fake.scheduler.advance(500)
    assert fetch.offsets() == [[0, 2, 4], []]
    assert fetch.got is not None and fetch.got[1].high_watermark == 6
    fake.log.load()


def test_a_fetch_of_which_nothing_is_in_memory_waits_on(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0), wait_ms=0))
    cold.scheduler.advance(1000)
    assert fetch.waits
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]


def test_a_topic_may_be_deleted_while_it_is_loaded(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    cold.broker.topics.delete_topics.delete([cold.existing()])
    cold.run()
    cold.log.load()
    assert fetch.errors() == [UnknownTopicOrPartition]


def test_a_loading_fetch_that_is_abandoned_leaves_nothing_behind(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0)))
    assert fetch.pending is not None
    fetch.pending.abandon()
    assert cold.scheduler.timers == []
    cold.log.load()
    assert fetch.waits


def test_a_broker_that_stops_does_not_begin_to_load(cold: FakeBroker) -> None:
    cold.broker.messages.fetch.release()
    assert Fetch(cold, query(item(0))).offsets() == [[]]


def test_loading_takes_of_the_time_that_a_fetch_may_wait(cold: FakeBroker) -> None:
    fetch = Fetch(cold, query(item(0), wait_ms=500, min_bytes=1 << 20))
    cold.scheduler.advance(300)
    cold.log.load()
    assert fetch.waits
    cold.scheduler.advance(200)
    assert fetch.offsets() == [[0, 2, 4]]


def test_an_error_beside_a_partition_that_is_loaded_does_not_wait(cold: FakeBroker) -> None:
    cold.log.loading_of = cold.partition("t", 0).partition_id
    fetch = Fetch(cold, query(item(0), item(1, offset=99)))
    assert fetch.errors() == [None, OffsetOutOfRange]


def test_the_first_use_of_a_partition_waits_for_its_log(fake: FakeBroker) -> None:
    fill(fake, 0)
    fake.log.loading, fake.log.loading_of = Pending(), fake.existing().partition_ids[1]
    fetch = Fetch(fake, query(item(0), item(1, offset=99), wait_ms=500))
    fake.scheduler.advance(500)
    assert fetch.waits, "where its log begins and ends is not known"
    fake.log.load()
    assert fetch.errors() == [None, OffsetOutOfRange]


def test_a_broker_that_stops_reads_a_partition_at_once(fake: FakeBroker) -> None:
    fake.log.loading = Pending()
    fake.broker.messages.fetch.release()
    assert Fetch(fake, query(item(0, offset=99))).errors() == [OffsetOutOfRange]


def test_a_broken_partition_is_read_again_at_once(cold: FakeBroker) -> None:
    partition = cold.partition("t", 0)
    partition.broken = StorageFailed("the disk is full")
    fetch = Fetch(cold, query(item(0)))
    assert partition.broken is None and partition.high_watermark == 6
    cold.log.load()
    assert fetch.offsets() == [[0, 2, 4]]
