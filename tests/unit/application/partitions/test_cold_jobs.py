"""Jobs that use a partition for the first time do not wait for the store on the loop."""

from __future__ import annotations

import pytest

from application.metrics.topics import TopicReadings
from application.partitions.delete_records import LowWatermark, RecordsToDelete
from application.partitions.log_dirs import LogDir
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.cold_log import restarted_cold


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
    readings = TopicReadings(cold.broker.catalog, cold.clock, cold.broker.placement)
    loading = cold.broker.background.run(readings.load())
    cold.run()
    assert loading.resolved
    [ends] = [
        samples
        for family, samples in readings.read()
        if samples and family.name == "kafka_topic_partition_current_offset"
    ]
    assert [end for _, end in ends] == [1, 2]
