"""A completely full disk: reads go on, what removes records makes room, producers continue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import EXTERNAL
from tests.e2e.librdkafka import PATIENCE_S, admin
from tests.e2e.raw_client import RawClient, batch, sealed_part
from tests.e2e.test_retention import set_config
from tests.fakes.batches import record_batch
from tests.fakes.small_disk import fill, needs_a_mount, small_disk

pytestmark = [
    pytest.mark.skipif(bool(EXTERNAL), reason="OTTLA_TEST_BOOTSTRAP names another broker"),
    needs_a_mount,
]

KAFKA_STORAGE_ERROR = 56
BATCH = batch([bytes(200_000)])


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path, 24) as path:
        yield path


@pytest.fixture
def broker(disk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    settings = ("log.retention.check.interval.ms=100", "log.cleaner.backoff.ms=100")
    storage = ("--storage", f"lmdb://{disk}/data", *(w for s in settings for w in ("--set", s)))
    folder = tmp_path_factory.mktemp("broker")
    with BrokerProcess(folder, "default", storage) as broker:
        yield broker


def produce_until(client: RawClient, topic: str, error: int) -> int:
    """Returns the number of batches before the one that is answered with the error."""
    count = 0
    while (produced := client.produce(topic, BATCH)).error != error:
        count += 1
    assert produced.error == error
    return count


def test_on_a_full_disk_deletions_make_room_for_producers(
    broker: BrokerProcess, disk: Path
) -> None:
    client, boss = broker.connect(), admin(broker.bootstrap)
    with client:
        for topic in ("trimmed", "deleted", "new"):
            assert client.create_topic(topic) == 0
        for topic in ("trimmed", "deleted"):
            for _ in range(30):
                assert client.produce(topic, BATCH).error == 0
        acknowledged = produce_until(client, "new", KAFKA_STORAGE_ERROR)
        fill(disk)
        for topic in ("trimmed", "deleted", "new"):
            assert client.produce(topic, BATCH).error == KAFKA_STORAGE_ERROR
        assert len(client.fetch_everything("new")) == acknowledged
        assert broker.log_line("storage_failed")

        all_of = TopicPartition("trimmed", 0, -1)
        boss.delete_records([all_of])[all_of].result(PATIENCE_S)
        produce_until(client, "new", 0)
        assert broker.log_line("storage_recovered")

        acknowledged += 1 + produce_until(client, "new", KAFKA_STORAGE_ERROR)
        boss.delete_topics(["deleted"])["deleted"].result(PATIENCE_S)
        produce_until(client, "new", 0)
        acknowledged += 1
        assert len(client.fetch_everything("new")) == acknowledged

    broker.kill()
    fill(disk)
    broker.log_file.unlink()
    broker.start()
    with broker.connect() as client:
        assert len(client.fetch_everything("new")) == acknowledged
        (disk / "other").unlink()
        produce_until(client, "new", 0)


def test_on_a_full_disk_retention_and_compaction_make_room(
    broker: BrokerProcess, disk: Path
) -> None:
    keyed = [
        bytes(record_batch([(b"key", bytes(100_000), (), number)])) for number in range(1000, 1020)
    ]
    compacted = {
        "cleanup.policy": "compact",
        "segment.ms": "1",
        "min.cleanable.dirty.ratio": "1",
    }
    client, boss = broker.connect(), admin(broker.bootstrap)
    with client:
        assert client.create_topic("keyed", 1, compacted) == 0
        assert client.create_topic("expiring", 1, {"retention.ms": "-1"}) == 0
        assert client.create_topic("new") == 0
        for one in keyed:
            assert client.produce("keyed", one).error == 0
        for _ in range(30):
            assert client.produce("expiring", BATCH).error == 0
        acknowledged = produce_until(client, "new", KAFKA_STORAGE_ERROR)
        fill(disk)

        set_config(boss, "keyed", "min.cleanable.dirty.ratio", "0")
        assert '"partition":0' in broker.log_line("log_compacted")
        offset, newest = client.fetch_everything("keyed")[-1]
        assert (offset, sealed_part(newest)) == (len(keyed) - 1, sealed_part(keyed[-1]))
        set_config(boss, "expiring", "retention.bytes", "1")
        assert broker.log_line("records_expired")
        produce_until(client, "new", 0)
        assert broker.log_line("storage_recovered")
        assert len(client.fetch_everything("new")) > acknowledged
