"""`ottla import kafka` is killed, and started again."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.broker_process import BrokerProcess, command, environment, wait_until
from tests.e2e.kafka_folder.test_import import import_folder
from tests.fakes.kafka_folder import enlarge, unpacked
from tests.unit.interfaces.cli.kafka_import.stored import rows

#: More than the commits of an import have, several times.
MEGABYTES = 150
PART_BYTES = MEGABYTES * 1024 * 1024 // 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = unpacked(tmp_path_factory.mktemp("kafka"))
    enlarge(made, "stamped", MEGABYTES)
    return made


def importing(folder: Path, data: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command("import", "kafka", str(folder), "--data", str(data)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def killed(folder: Path, data: Path, seconds: float) -> bool:
    """False: it had ended before."""
    with importing(folder, data) as process:
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
        assert is_complete(process.returncode, errors)
        return False


def is_complete(code: int, errors: str) -> bool:
    """Now, or since the process before, which was killed behind its last commit."""
    return code == 0 or "the store has a topic" in errors


def test_memory_does_not_grow_with_the_folder(folder: Path, tmp_path: Path) -> None:
    """Pages of the store count as memory of the process, but are the system's."""
    peak_kib = 0
    with importing(folder, tmp_path / "data") as process:
        while process.poll() is None:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    peak_kib = max(peak_kib, int(line.split()[1]))
            time.sleep(0.01)
    assert process.returncode == 0
    assert 0 < peak_kib < MEGABYTES * 1024 * 2 // 3


@pytest.mark.long
def test_it_continues_to_the_same_store(folder: Path, tmp_path: Path) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    began = time.monotonic()
    assert import_folder(folder, whole).returncode == 0
    lasted = time.monotonic() - began
    chance = random.Random(39)
    kills = 0
    while kills < 4 and killed(folder, resumed, lasted * chance.uniform(0.3, 0.95)):
        kills += 1
    assert kills
    if kills == 4:
        last = import_folder(folder, resumed)
        assert is_complete(last.returncode, last.stderr)
    assert rows(resumed) == rows(whole)


def test_a_broker_that_starts_before_the_end_has_no_topic_of_it(
    folder: Path, tmp_path: Path
) -> None:
    broker = BrokerProcess(tmp_path / "broker")
    data = tmp_path / "broker" / "data"
    store = data / "data.mdb"
    with importing(folder, data) as process:
        wait_until(lambda: store.exists() and store.stat().st_blocks * 512 > PART_BYTES)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    with broker:
        with broker.connect() as client:
            assert client.usable_partitions("stamped", 1) == 0
        assert broker.terminate() == 0
    assert import_folder(folder, data).returncode == 0
    with broker:
        with broker.connect() as client:
            assert client.end_offset("stamped") == 10 + MEGABYTES
        assert broker.terminate() == 0
