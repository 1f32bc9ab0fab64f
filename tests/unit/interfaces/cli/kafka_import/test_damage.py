"""Damaged folders: one line, exit code 1, nothing written. Otherwise the plan is the same."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from infrastructure.kafka_folder.folder import KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused
from interfaces.cli.kafka_import.checking import check_logs
from interfaces.cli.kafka_import.plan import Plan
from interfaces.cli.kafka_import.planning import make_plan
from interfaces.main.__main__ import main
from tests.unit.interfaces.cli.kafka_import.conftest import Import

#: Text without a checksum: a changed number is another number.
TEXTS = {
    "meta.properties",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
    "replication-offset-checkpoint",
    "leader-epoch-checkpoint",
}
#: Not read.
UNREAD = {"bootstrap.checkpoint", "quorum-state"}
SAMPLES = 150


def planned(folder: Path) -> Plan:
    with KafkaFolder(folder) as opened:
        plan = make_plan(opened)
        check_logs(opened, plan, lambda size_bytes: None)
    if plan.skipped:  # as the command does without the option
        raise FolderRefused(plan.skipped[0].what)
    return plan


def content(plan: Plan) -> object:
    """Everything of a plan that can be compared."""
    return (
        [(topic[:3], [one.facts for one in topic.partitions]) for topic in plan.topics],
        plan.group_ids,
        plan.offsets,
        plan.pending,
        plan.transactions,
        plan.users,
        plan.acls,
        plan.quotas,
        plan.configs,
        plan.next_producer_id,
        plan.skipped,
    )


def samples(folder: Path) -> list[tuple[str, int]]:
    """Files and positions, the same each time."""
    chance = random.Random(39)
    files = sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name not in TEXTS | UNREAD and "-delete" not in str(path)
    )
    weighted = [name for name in files for _ in range(1 + (folder / name).stat().st_size // 500)]
    found = []
    for _ in range(SAMPLES):
        name = chance.choice(weighted)
        size_bytes = (folder / name).stat().st_size
        if size_bytes:
            found.append((name, chance.randrange(size_bytes)))
    return found


def is_offset_or_epoch(data: bytes, position: int) -> bool:
    """Fields of a batch that its checksum does not cover, because the broker writes them."""
    start = 0
    while start < len(data):
        if start <= position < start + 8 or start + 12 <= position < start + 16:
            return True
        start += 12 + int.from_bytes(data[start + 8 : start + 12], "big")
    return False


def test_a_flipped_bit_is_refused_or_changes_nothing(original: Path, folder: Path) -> None:
    expected = content(planned(original))
    refused = 0
    for name, position in samples(original):
        path = folder / name
        whole = path.read_bytes()
        changed = bytearray(whole)
        changed[position] ^= 1 << position % 8
        path.write_bytes(changed)
        try:
            found = content(planned(folder))
        except FolderRefused:
            refused += 1
        else:
            covered = not (name.endswith(".log") and is_offset_or_epoch(whole, position))
            assert found == expected or not covered, (name, position)
        finally:
            path.write_bytes(whole)
    assert refused > SAMPLES * 0.7
    assert content(planned(folder)) == expected


def test_a_file_that_is_cut_off_is_refused_or_changes_nothing(original: Path, folder: Path) -> None:
    expected = content(planned(original))
    for name, length in samples(original):
        path = folder / name
        whole = path.read_bytes()
        path.write_bytes(whole[:length])
        try:
            assert content(planned(folder)) == expected, (name, length)
        except FolderRefused:
            pass
        finally:
            path.write_bytes(whole)


def test_a_file_that_is_gone_is_refused_or_changes_nothing(original: Path, folder: Path) -> None:
    expected = content(planned(original))
    for path in sorted(folder.rglob("*.log")) + sorted(folder.rglob("partition.metadata")):
        # A log without its oldest segments is as after retention, for Kafka, too.
        if "-delete" in str(path) or path == min(path.parent.glob("*.log"), default=None):
            continue
        whole = path.read_bytes()
        path.unlink()
        try:
            assert content(planned(folder)) == expected, path
        except FolderRefused:
            pass
        finally:
            path.write_bytes(whole)


def test_a_refused_folder_writes_nothing(
    folder: Path, run: Import, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "segments-0" / f"{8:020}.log"
    data = bytearray(path.read_bytes())
    data[70] ^= 1
    path.write_bytes(data)
    assert run(folder) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line == f"ottla: {path} is damaged at byte 0: a batch with a wrong checksum"
    assert not store.exists()


def test_a_torn_tail_is_cut_with_the_option(
    folder: Path, run: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / ".kafka_cleanshutdown").unlink()
    path = max((folder / "segments-0").glob("*.log"))
    path.write_bytes(path.read_bytes()[:-1])
    assert run(folder) == 1
    assert "--cut-tails" in capsys.readouterr().err
    assert run(folder, "--cut-tails", "--dry-run") == 0
    printed = capsys.readouterr().out
    assert "segments-0: the last" in printed and "bytes are no whole batch" in printed
    assert run(folder, "--cut-tails") == 0


def test_a_gap_needs_an_option(
    folder: Path, run: Import, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "segments-0" / f"{8:020}.log").unlink()
    assert run(folder) == 1
    errors = capsys.readouterr().err
    assert "offsets of segments-0 below 12: some are missing" in errors
    assert run(folder, "--skip-unsupported") == 0
    assert main(["storage", "verify", str(store)]) == 0


def test_folders_without_a_topic_are_named(
    folder: Path, run: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder / "empty-0", folder / "stranger-0")
    assert run(folder) == 1
    assert "folder stranger-0: the metadata has no such topic" in capsys.readouterr().err
    shutil.rmtree(folder / "stranger-0")
    shutil.rmtree(folder / "empty-0")
    assert run(folder) == 1
    assert "is it in another of log.dirs?" in capsys.readouterr().err
