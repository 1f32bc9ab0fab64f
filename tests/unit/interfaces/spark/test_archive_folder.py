"""An archive continues with its own checkpoint of the same age, in its place, with its topics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from interfaces.spark.jobs import archive_folder
from interfaces.spark.jobs.archive_folder import ArchiveFolder
from interfaces.spark.query.failures import JobFailed, WrongOption
from tests.unit.interfaces.spark.local_files import LocalFiles


@pytest.fixture(autouse=True)
def _local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_folder, "HadoopFiles", LocalFiles)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def checkpoint(folder: Path) -> Path:
    return folder / "_checkpoint"


def archive(folder: Path) -> ArchiveFolder:
    return ArchiveFolder(cast(Any, None), str(folder))


def started(folder: Path, checkpoint: Path) -> ArchiveFolder:
    made = archive(folder)
    made.belongs_to(str(checkpoint))
    made.note({"t": 2})
    return made


def write_batches(folder: Path, checkpoint: Path, batches: int) -> None:
    """As Spark does: the offsets of a batch, the folder's log, the commit."""
    log = folder / "_spark_metadata"
    for number in range(batches):
        path = f"file://{folder}/topic=t/date=2026-11-22/{number}"
        put(checkpoint / "offsets", number)
        put(log, number, "v1\n" + json.dumps({"path": path}))
        put(checkpoint / "commits", number)


def put(folder: Path, number: int, text: str = "v1") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / str(number)).write_text(text)


def refused(text: str) -> Any:
    return pytest.raises(WrongOption, match=text)


def test_an_archive_continues_wherever_a_run_was_killed(folder: Path, checkpoint: Path) -> None:
    started(folder, checkpoint)
    archive(folder).belongs_to(str(checkpoint))
    put(checkpoint / "offsets", 0)
    archive(folder).belongs_to(str(checkpoint))
    write_batches(folder, checkpoint, 3)
    for file in (checkpoint / "commits" / "2", folder / "_spark_metadata" / "2"):
        archive(folder).belongs_to(str(checkpoint))
        file.unlink()
    archive(folder).belongs_to(str(checkpoint))


def test_a_run_killed_between_the_two_notes_starts_again(folder: Path, checkpoint: Path) -> None:
    started(folder, checkpoint)
    (folder / "_ottla_archive.json").unlink()
    started(folder, checkpoint)
    write_batches(folder, checkpoint, 1)
    archive(folder).belongs_to(str(checkpoint))


@pytest.mark.parametrize(("left", "batch"), [(1, "ends with batch 0"), (0, "has no batch")])
@pytest.mark.parametrize("older", ["checkpoint", "folder"])
def test_a_checkpoint_and_a_folder_of_different_age_are_refused(
    folder: Path, checkpoint: Path, older: str, left: int, batch: str
) -> None:
    started(folder, checkpoint)
    write_batches(folder, checkpoint, 3)
    logs = {
        "checkpoint": [checkpoint / "offsets", checkpoint / "commits"],
        "folder": [folder / "_spark_metadata"],
    }
    for number in range(left, 3):
        for log in logs[older]:
            (log / str(number)).unlink()
    names = [f"the checkpoint {checkpoint}", str(folder)]
    first, second = names if older == "checkpoint" else reversed(names)
    with refused(f"^{first} is older than {second}: it {batch}, and .* has batch 2"):
        archive(folder).belongs_to(str(checkpoint))


class WrittenMeanwhile(LocalFiles):
    """Another run writes the next batch before each read of a log."""

    def names(self, folder: str) -> list[str]:
        archived = Path(folder).parents[1] if "_checkpoint" in folder else Path(folder).parent
        write_batches(archived, archived / "_checkpoint", len(super().names(folder)) + 1)
        return super().names(folder)


def test_a_run_beside_another_finds_checkpoint_and_folder_of_the_same_age(
    folder: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(folder, checkpoint)
    write_batches(folder, checkpoint, 3)
    monkeypatch.setattr(archive_folder, "HadoopFiles", WrittenMeanwhile)
    archive(folder).belongs_to(str(checkpoint))


def test_a_moved_archive_does_not_continue_but_can_be_read(
    folder: Path, checkpoint: Path, tmp_path: Path
) -> None:
    started(folder, checkpoint)
    empty = folder.rename(tmp_path / "empty")
    archive(empty).belongs_to(str(empty / "_checkpoint"))  # no batch is lost
    empty.rename(folder)
    write_batches(folder, checkpoint, 3)
    moved = folder.rename(tmp_path / "moved")
    with refused(f"^file:{moved} was written as file:{folder}, "):
        archive(moved).belongs_to(str(moved / "_checkpoint"))
    assert archive(moved).files() == [f"topic=t/date=2026-11-22/{number}" for number in range(3)]


def test_all_topics_that_have_batches_must_be_named(folder: Path, checkpoint: Path) -> None:
    started(folder, checkpoint)
    again = archive(folder)
    again.require_all_named("other".__eq__, str(checkpoint))
    again.belongs_to(str(checkpoint))
    again.note({"other": 1})
    put(checkpoint / "offsets", 0)  # the batch is not written yet
    third = archive(folder)
    assert third.partitions == {"other": 1}
    with refused(f"^{folder} is also an archive of other: "):
        third.require_all_named("t".__eq__, str(checkpoint))


@pytest.mark.parametrize(
    ("first", "others", "text"),
    [
        ("struct<b:int>", ("struct<a:int>", ""), "has struct<b:int> as --json-schema"),
        ("", ("struct<a:int>",), "has no --json-schema"),
    ],
)
def test_the_json_schema_is_that_of_the_first_files(
    folder: Path, checkpoint: Path, first: str, others: tuple[str, ...], text: str
) -> None:
    started(folder, checkpoint).note_json("struct<other:int>")
    archive(folder).note_json(first)  # nothing is archived yet
    write_batches(folder, checkpoint, 1)
    archive(folder).note_json(first)
    for other in others:
        with refused(text):
            archive(folder).note_json(other)


class BesideAnother(LocalFiles):
    """Another first run creates each note just before this one."""

    def write(self, file: str, text: str, only_new: bool = False) -> None:
        super().write(file, '{"name": "other"}')
        super().write(file, text, only_new)


def test_of_two_first_runs_at_once_one_is_refused(
    folder: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_folder, "HadoopFiles", BesideAnother)
    with refused(f"^another run is beginning an archive in {folder}$"):
        archive(folder).belongs_to(str(checkpoint))


def test_the_log_of_another_query_is_refused(folder: Path) -> None:
    put(folder / "_spark_metadata", 0, "v1\n" + json.dumps({"path": "file:///else/where/it"}))
    with pytest.raises(JobFailed, match=f"^the log in {folder} is not of an archive: "):
        archive(folder).files()
