"""A broker that restarts after a power cut logs what it lost."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from infrastructure.storage.lmdb.recovery_point import RecoveryPoint
from tests.e2e.broker_process import PATIENCE_S, BrokerDied, BrokerProcess
from tests.e2e.raw_client import batch, sealed_part
from tests.fakes.machine import restart_machine


def wait_for_flushes(folder: Path, more: int) -> None:
    def number() -> int:
        found = RecoveryPoint(folder).found
        return found.number if found is not None else 0

    target = number() + more
    deadline = time.monotonic() + PATIENCE_S
    while number() < target:
        assert time.monotonic() < deadline, "nothing is flushed"


@pytest.mark.parametrize("engine", ["lmdb", "files"])
def test_with_interval_the_store_goes_back_to_the_newest_flush_and_logs_it(
    tmp_path: Path, engine: str
) -> None:
    sent = [batch([b"%d" % number]) for number in range(20)]
    arguments = ["--flush", "interval", "--set", "flush.interval.ms=20"]
    with BrokerProcess(tmp_path, engine, arguments) as broker:
        with broker.connect() as client:
            assert client.create_topic("t") == 0
            for one in sent:
                assert client.produce("t", one).error == 0
                wait_for_flushes(tmp_path / "data", 1)
        broker.kill()
        restart_machine(tmp_path / "data")
        broker.start()
        with broker.connect() as client:
            found = client.fetch_everything("t")

        assert broker.log().count("it is as of the newest flush") == 1
    # The last completed flush may have begun before the last batch.
    assert len(found) in (19, 20)
    assert [sealed_part(raw) for _, raw in found] == [
        sealed_part(raw) for raw in sent[: len(found)]
    ]


def test_with_os_a_log_is_cut_where_it_is_damaged_and_the_broker_logs_it(tmp_path: Path) -> None:
    sent = [batch([b"%d" % number]) for number in range(20)]
    with BrokerProcess(tmp_path, "files", ["--flush", "os"]) as broker:
        with broker.connect() as client:
            assert client.create_topic("t") == 0
            for one in sent:
                assert client.produce("t", one).error == 0
        broker.kill()
        restart_machine(tmp_path / "data")
        os.truncate(tmp_path / "data" / "t-0" / "00000000000000000000.log", 10 * len(sent[0]) + 30)
        broker.start()
        with broker.connect() as client:
            found = client.fetch_everything("t")
            again = client.produce("t", sent[10])

        assert broker.log().count("not whole: t-0 at 10") == 1
    assert [sealed_part(raw) for _, raw in found] == [sealed_part(raw) for raw in sent[:10]]
    assert (again.error, again.base_offset) == (0, 10)


@pytest.mark.parametrize("engine", ["lmdb", "files"])
def test_with_os_a_damaged_store_is_refused_in_one_line(tmp_path: Path, engine: str) -> None:
    with BrokerProcess(tmp_path, engine, ["--flush", "os"]) as broker:
        with broker.connect() as client:
            assert client.create_topic("t") == 0
            for _ in range(20):
                assert client.produce("t", batch([bytes(5000)])).error == 0
        broker.kill()
        restart_machine(tmp_path / "data")
        with (tmp_path / "data" / "data.mdb").open("r+b") as file:
            file.seek(2 * 4096)
            file.write(bytes(20 * 4096))
        before = len(broker.log())

        with pytest.raises(BrokerDied, match="exit 1"):
            broker.start()

        (line,) = broker.log()[before:].splitlines()
        assert line.startswith(f"ottla: cannot open {engine}://")
        assert "open with flush=os, and the store is damaged" in line
