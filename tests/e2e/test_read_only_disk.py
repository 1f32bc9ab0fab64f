"""A disk that becomes read-only under a broker: reads go on, and nothing acknowledged is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.broker_process import BrokerDied, BrokerProcess
from tests.e2e.conftest import EXTERNAL
from tests.e2e.raw_client import batch
from tests.fakes.small_disk import Ext4Disk, ext4_disk, needs_a_loop_device, run

pytestmark = [
    pytest.mark.skipif(bool(EXTERNAL), reason="OTTLA_TEST_BOOTSTRAP names another broker"),
    needs_a_loop_device,
]

KAFKA_STORAGE_ERROR = 56
BATCH = batch([b"value"])


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Ext4Disk]:
    with ext4_disk(tmp_path, 32) as disk:
        yield disk


@pytest.fixture
def broker(disk: Ext4Disk, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    storage = ("--storage", f"lmdb://{disk.path}/data")
    with BrokerProcess(tmp_path_factory.mktemp("broker"), "default", storage) as broker:
        yield broker


def test_records_are_read_and_none_is_lost_when_the_disk_becomes_read_only(
    broker: BrokerProcess, disk: Ext4Disk
) -> None:
    with broker.connect() as client:
        assert client.create_topic("t") == 0
        for _ in range(5):
            assert client.produce("t", BATCH).error == 0
        disk.become_read_only()
        for _ in range(3):
            assert client.produce("t", BATCH).error == KAFKA_STORAGE_ERROR
        assert client.create_topic("u") == KAFKA_STORAGE_ERROR
        assert len(client.fetch_everything("t")) == 5
        assert "Read-only file system" in broker.log_line("storage_failed")

    assert broker.terminate() != 0
    with pytest.raises(BrokerDied, match="cannot be used: Read-only file system"):
        broker.start()
    disk.repair()
    broker.start()
    with broker.connect() as client:
        assert len(client.fetch_everything("t")) == 5
        assert client.produce("t", BATCH).error == 0


def test_producers_continue_when_the_file_is_writable_again(
    broker: BrokerProcess, disk: Ext4Disk
) -> None:
    with broker.connect() as client:
        assert client.create_topic("t") == 0
        run("chattr", "+i", disk.path / "data" / "data.mdb")
        for _ in range(3):
            assert client.produce("t", BATCH).error == KAFKA_STORAGE_ERROR
        run("chattr", "-i", disk.path / "data" / "data.mdb")
        assert client.produce("t", BATCH).error == 0
        assert broker.log_line("storage_failed")
        assert broker.log_line("storage_recovered")
        assert len(client.fetch_everything("t")) == 1
