"""The log folder of a stopped Kafka as the storage of a broker: what is written, and what is not.

What clients find is asked in test_import.py.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from infrastructure.kafka_folder.clean_stop import begin_taking
from infrastructure.opening import contents, open_in_kafkas_folder, open_storage
from infrastructure.storage.files.log_store import FilesLogStore
from tests.e2e.broker_process import BrokerProcess, command, environment
from tests.e2e.kafka_folder.filling import expected
from tests.e2e.kafka_folder.test_import import OPTIONS
from tests.e2e.raw_client import batch
from tests.fakes.kafka_folder import expected_of, unpacked

POLICY_VIOLATION = 44


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a broker with the engine `files` looks for its store."""
    place = tmp_path / "broker"
    place.mkdir()
    return unpacked(place)


def serve(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = command(
        *("serve", "--storage", f"files://{folder}", "--listen", "127.0.0.1:0", "--admin", "off"),
        *options,
    )
    return subprocess.run(
        words, capture_output=True, text=True, env=environment(), timeout=60, check=False
    )


def tree(folder: Path) -> dict[str, Any]:
    """Each file and folder, with its bytes and times."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        facts = path.stat()
        content = path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (content, facts.st_mtime_ns, facts.st_mode)
    return found


def test_read_only_changes_nothing(folder: Path) -> None:
    before = tree(folder)
    with BrokerProcess(folder.parent, "files", (*OPTIONS, "--read-only")) as broker:
        found = json.loads(json.dumps(expected(broker.bootstrap)))
        known = expected_of(folder.parent)
        assert found["groups"] == known["groups"]
        for topic, partitions in known["topics"].items():
            assert found["topics"][topic] == partitions, topic
        with broker.connect() as client:
            assert client.produce("segments", batch([b"more"])).error == POLICY_VIOLATION
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "new"})
        consumer.commit(offsets=[TopicPartition("segments", 0, 3)], asynchronous=False)
        [position] = consumer.committed([TopicPartition("segments", 0)])
        assert position.offset == 3
        consumer.close()
        assert broker.terminate() == 0
    assert tree(folder) == before


def test_a_store_that_was_taken_over_is_read_only_too(folder: Path) -> None:
    with BrokerProcess(folder.parent, "files", OPTIONS) as broker:
        with broker.connect() as client:
            end = client.end_offset("segments")
            assert client.produce("segments", batch([b"more"])) == (0, end)
        assert broker.terminate() == 0
    before = tree(folder)
    with BrokerProcess(folder.parent, "files", (*OPTIONS, "--read-only")) as broker:
        with broker.connect() as client:
            assert client.end_offset("segments") == end + 1
        assert broker.terminate() == 0
    assert tree(folder) == before


def test_a_later_start_goes_on(folder: Path) -> None:
    ends = []
    for _ in range(2):
        with BrokerProcess(folder.parent, "files", OPTIONS) as broker:
            with broker.connect() as client:
                ends.append(client.end_offset("codecs", 2))
                assert client.produce("codecs", batch([b"more"]), partition=2).error == 0
            broker.kill()
    assert ends == [ends[0], ends[0] + 1]


@pytest.mark.parametrize("read_only", [(), ("--read-only",)])
def test_what_cannot_be_served_is_listed_before_anything_is_written(
    folder: Path, read_only: tuple[str, ...]
) -> None:
    shutil.copytree(folder / "empty-0", folder / "unknown-0")
    before = tree(folder)

    done = serve(folder, *read_only)

    assert done.returncode == 2
    assert "--skip-unsupported serves the rest" in done.stderr
    assert "folder unknown-0: the metadata has no such topic" in done.stderr
    assert tree(folder) == before


@pytest.mark.parametrize("part", ["..", "segments-0"])
def test_a_folder_beside_the_log_folder_is_refused(folder: Path, part: str) -> None:
    before = tree(folder)
    done = serve((folder / part).resolve())
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"is not the log folder of Kafka: {folder} is" in done.stderr
    assert tree(folder) == before


def test_a_folder_in_use_is_refused(folder: Path) -> None:
    (folder / ".lock").touch()
    before = tree(folder)  # to read the file of a lock ends it
    with (folder / ".lock").open("r+") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        done = serve(folder)
    assert done.returncode == 2
    assert "is in use by a running Kafka: stop it first" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert tree(folder) == before


def test_kafka_does_not_start_beside_the_broker(folder: Path) -> None:
    with BrokerProcess(folder.parent, "files", OPTIONS) as broker:
        with (folder / ".lock").open("r+") as lock, pytest.raises(BlockingIOError):
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert broker.terminate() == 0


def test_a_folder_that_was_not_stopped_cleanly_is_refused(folder: Path) -> None:
    (folder / ".kafka_cleanshutdown").unlink()
    before = tree(folder)
    done = serve(folder)
    assert done.returncode == 2
    assert "was not stopped cleanly" in done.stderr
    assert tree(folder) == before


def test_a_folder_on_which_kafka_was_started_since_is_refused(folder: Path) -> None:
    with BrokerProcess(folder.parent, "files", OPTIONS) as broker:
        assert broker.terminate() == 0
    [log] = (folder / "__cluster_metadata-0").glob("*.log")
    with log.open("ab") as file:
        file.write(b"of the next start")
    before = tree(folder)
    done = serve(folder)
    assert done.returncode == 2
    assert "Kafka was started on" in done.stderr
    assert tree(folder).keys() == before.keys()


def test_a_take_over_that_was_killed_begins_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its commit: the store is there, without a row."""
    open_in_kafkas_folder(folder).commit.close()
    begin_taking(folder)
    with BrokerProcess(folder.parent, "files", OPTIONS) as broker:
        with broker.connect() as client:
            assert client.end_offset("segments") > 0
        assert broker.terminate() == 0
    storage = open_storage(f"files://{folder}", read_only=True)
    assert isinstance(storage.log, FilesLogStore)
    assert contents(storage).kafka_folder.metadata_bytes() is not None
    storage.commit.close()


def test_a_take_over_that_was_killed_says_nothing_to_kafka(folder: Path) -> None:
    """Kafka was started since, runs, or was killed: it must not find its file of a clean stop."""
    begin_taking(folder)
    with (folder / ".lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        assert "in use by a running Kafka" in serve(folder).stderr
    [log] = (folder / "__cluster_metadata-0").glob("*.log")
    with log.open("ab") as file:
        file.write(b"of the next start")
    assert "was not stopped cleanly" in serve(folder).stderr
    assert not (folder / ".kafka_cleanshutdown").exists()


def test_read_only_needs_files() -> None:
    words = command("serve", "--read-only", "--storage", "memory://")
    done = subprocess.run(
        words, capture_output=True, text=True, env=environment(), timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "ottla: --read-only needs --storage files://..., not memory://\n"
