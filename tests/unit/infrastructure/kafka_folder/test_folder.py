from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from infrastructure.kafka_folder.folder import METADATA_TOPIC, KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused

_HOLDS = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_folder_of_kafka(original: Path) -> None:
    with KafkaFolder(original) as folder:
        assert folder.node_id == "1"
        assert ("codecs", 4) in folder.partitions
        assert [name.partition(".")[0] for name in folder.left_over] == ["deleted-0", "deleted-1"]
        assert folder.cleaned_offset(("compacted", 0)) > 0
        assert folder.log(("trimmed", 0)).start_offset == 10
        found = folder.metadata_snapshot()
        assert found is not None
        assert found[0] > 0
        assert found[1].name.startswith(f"{found[0]:020}-")
        folder.check_unused()


def test_what_is_read_is_not_changed(folder: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        stats = {path: path.stat() for path in [folder, *folder.rglob("*")]}
        return {str(path): (one.st_mtime_ns, one.st_size) for path, one in stats.items()}

    before = state()
    with KafkaFolder(folder) as opened:
        for place in opened.partitions:
            list(opened.log(place).batches())
    assert state() == before


def test_a_folder_in_use_is_refused(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(folder / ".lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        with pytest.raises(FolderRefused, match="is in use by a running Kafka"):
            KafkaFolder(folder)
        holder.stdin.close()
    KafkaFolder(folder).close()


def test_a_folder_that_is_read_cannot_be_locked_by_kafka(folder: Path) -> None:
    (folder / ".lock").touch()
    takes = _HOLDS.replace("LOCK_EX", "LOCK_EX | fcntl.LOCK_NB")
    with KafkaFolder(folder):
        command = [sys.executable, "-c", takes, str(folder / ".lock")]
        tried = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert tried.returncode != 0


def test_a_topic_may_have_a_name_like_our_files(folder: Path) -> None:
    (folder / "empty-0").rename(folder / "ottla.events-0")
    with KafkaFolder(folder) as opened:
        assert ("ottla.events", 0) in opened.partitions


def test_a_start_of_kafka_is_noticed(folder: Path) -> None:
    with KafkaFolder(folder) as opened:
        (folder / ".lock").touch()
        with pytest.raises(FolderRefused, match="started meanwhile"):
            opened.check_unused()
    with KafkaFolder(folder) as opened:
        (folder / ".kafka_cleanshutdown").unlink()
        with pytest.raises(FolderRefused, match="started meanwhile"):
            opened.check_unused()


def test_after_a_crash_an_option_is_needed(folder: Path) -> None:
    (folder / ".kafka_cleanshutdown").unlink()
    with pytest.raises(FolderRefused, match=r"was not stopped cleanly.*start and stop Kafka once"):
        KafkaFolder(folder)
    KafkaFolder(folder, cut_tails=True).close()


def test_tails_of_a_clean_folder_are_not_cut(folder: Path) -> None:
    last = max((folder / "segments-0").glob("*.log"))
    last.write_bytes(last.read_bytes()[:-1])
    with KafkaFolder(folder, cut_tails=True) as opened, pytest.raises(FolderRefused):
        list(opened.log(("segments", 0)).batches())


def test_a_log_that_ends_earlier_than_when_kafka_stopped_is_refused(original: Path) -> None:
    with KafkaFolder(original) as folder:
        log = folder.log(("segments", 1))
        folder.check_end(("segments", 1), log, 3)
        with pytest.raises(FolderRefused, match="cut off"):
            folder.check_end(("segments", 1), log, 2)
        log = folder.log(("empty", 0))
        with pytest.raises(FolderRefused, match="ended at 0 when Kafka stopped"):
            folder.check_end(("empty", 0), log, 1)


def test_the_end_of_every_log_is_known_after_a_clean_stop(folder: Path) -> None:
    path = folder / "recovery-point-offset-checkpoint"
    path.write_text("")
    with KafkaFolder(folder) as opened:
        log = opened.log(("empty", 0))
        with pytest.raises(FolderRefused, match="recovery-point-offset-checkpoint lacks empty-0"):
            opened.check_end(("empty", 0), log, 0)


@pytest.mark.parametrize(
    "name, content, reason",
    [
        ("meta.properties", None, "is not a log folder of Kafka"),
        ("meta.properties", "version=0\nbroker.id=1\n", "only folders of Kafka 4"),
        ("meta.properties", "version=1\nnode.id=1\n", "lacks cluster.id"),
        ("meta.properties", "version=1\ncluster.id=x\nnode.id=-1\n", "lacks cluster.id"),
        ("meta.properties", "version\n", "has a line without"),
        ("notes.txt", "x", "is not a file of Kafka's"),
        ("segments-9", "x", "is not a file of Kafka's"),
        ("log-start-offset-checkpoint", "7\n0\n", "has version"),
    ],
)
def test_other_folders_are_refused(
    folder: Path, name: str, content: str | None, reason: str
) -> None:
    (folder / name).unlink(missing_ok=True)
    if content is not None:
        (folder / name).write_text(content)
    with pytest.raises(FolderRefused, match=reason) as refused:
        KafkaFolder(folder)
    assert "\n" not in str(refused.value)


def test_a_folder_without_metadata_is_refused(folder: Path) -> None:
    (folder / f"{METADATA_TOPIC}-0").rename(folder.parent / "elsewhere")
    with pytest.raises(FolderRefused, match="which knows the topics"):
        KafkaFolder(folder)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FolderRefused, match="is not a folder"):
        KafkaFolder(tmp_path / "none")
