"""Jobs that use a partition for the first time do not wait for the store on the loop."""

from __future__ import annotations

import pytest

from application.metrics.families.family import Reading
from application.metrics.topics import TopicReadings
from application.partitions.delete_records import LowWatermark, RecordsToDelete
from application.partitions.log_dirs import LogDir
from application.partitions.reading import STUCK_MS
from infrastructure.observability.collecting import Collector
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.cold_log import restarted_cold, restarted_without_reads

OFFLINE = "kafka_controller_kafkacontroller_offlinepartitionscount"


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> FakeBroker:
    """One record in t-0, two in t-1."""
    fake = with_topic(2)
    fake.appended(record_batch(["a"]), "t", 0)
    fake.appended(record_batch(["a", "b"]), "t", 1)
    return restarted_cold(fake, monkeypatch)


def test_log_dirs_are_described(cold: FakeBroker) -> None:
    found: list[LogDir] = []
    cold.broker.topics.log_dirs.describe(None).then(found.append)
    cold.run()
    assert [one.partition_index for one in found[0].sizes] == [0, 1]


def test_records_are_deleted(cold: FakeBroker) -> None:
    found: list[LowWatermark] = []
    to_delete = [RecordsToDelete("t", 0, 1), RecordsToDelete("t", 1, 1)]
    cold.broker.messages.delete_records.delete(to_delete).then(found.extend)
    cold.run()
    assert found == [1, 1]


def test_metrics_are_read(cold: FakeBroker) -> None:
    collected = collect(cold)
    cold.run()
    assert values(collected, "kafka_topic_partition_current_offset") == [1, 2]


def test_metrics_wait_for_a_store_that_does_not_respond_for_a_moment_only(
    cold: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = restarted_without_reads(cold, monkeypatch)
    collected = collect(again)
    again.scheduler.advance(2 * STUCK_MS - 1)
    assert collected == []
    again.scheduler.advance(1)
    assert values(collected, "kafka_topic_partition_current_offset") == []
    assert values(collected, OFFLINE) == [2]


def collect(fake: FakeBroker) -> list[Reading]:
    topics = TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement)
    collected: list[Reading] = []
    collector = Collector([topics.read], fake.broker.background, topics.load)
    collector.collect(collected.append).then(lambda _: None)
    return collected


def values(collected: list[Reading], name: str) -> list[float]:
    return [value for family, samples in collected if family.name == name for _, value in samples]
