"""An archive goes on only with its checkpoint, of the same age, in its place, with its topics."""

from __future__ import annotations

import json
from collections.abc import Iterable
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


def begun(folder: Path, checkpoint: Path) -> ArchiveFolder:
    made = archive(folder)
    made.belongs_to(str(checkpoint))
    made.note({"t": 2})
    return made


def wrote(folder: Path, checkpoint: Path, batches: int) -> None:
    """As Spark does, one after another."""
    log = folder / "_spark_metadata"
    for number in range(batches):
        path = f"file://{folder}/topic=t/date=2026-11-22/{number}"
        put(checkpoint / "offsets", [number])
        put(log, [number], "v1\n" + json.dumps({"path": path}))
        put(checkpoint / "commits", [number])


def put(folder: Path, numbers: Iterable[int], text: str = "v1") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        (folder / str(number)).write_text(text)


def test_it_goes_on_wherever_it_was_killed(folder: Path, checkpoint: Path) -> None:
    begun(folder, checkpoint)
    archive(folder).belongs_to(str(checkpoint))
    put(checkpoint / "offsets", [0])
    archive(folder).belongs_to(str(checkpoint))
    wrote(folder, checkpoint, 3)
    archive(folder).belongs_to(str(checkpoint))
    (checkpoint / "commits" / "2").unlink()
    archive(folder).belongs_to(str(checkpoint))
    (folder / "_spark_metadata" / "2").unlink()
    archive(folder).belongs_to(str(checkpoint))


@pytest.mark.parametrize(("kept", "known"), [(1, "ends with batch 0"), (0, "has no batch")])
def test_a_checkpoint_that_is_older_than_its_folder_is_refused(
    folder: Path, checkpoint: Path, kept: int, known: str
) -> None:
    begun(folder, checkpoint)
    wrote(folder, checkpoint, 3)
    for number in range(kept, 3):
        (checkpoint / "offsets" / str(number)).unlink()
        (checkpoint / "commits" / str(number)).unlink()
    line = rf"^the checkpoint {checkpoint} is older than {folder}: it {known}, and .* has batch 2"
    with pytest.raises(WrongOption, match=line):
        archive(folder).belongs_to(str(checkpoint))


@pytest.mark.parametrize(("kept", "has"), [(1, "ends with batch 0"), (0, "has no batch")])
def test_a_folder_that_is_older_than_its_checkpoint_is_refused(
    folder: Path, tmp_path: Path, kept: int, has: str
) -> None:
    checkpoint = tmp_path / "checkpoint"
    begun(folder, checkpoint)
    wrote(folder, checkpoint, 3)
    for number in range(kept, 3):
        (folder / "_spark_metadata" / str(number)).unlink()
    line = rf"^{folder} is older than the checkpoint {checkpoint}: it {has}, and .* has batch 2"
    with pytest.raises(WrongOption, match=line):
        archive(folder).belongs_to(str(checkpoint))


class AtWork(LocalFiles):
    """Another run writes the next batch before each look."""

    def names(self, folder: str) -> list[str]:
        archived = Path(folder).parents[1] if "_checkpoint" in folder else Path(folder).parent
        wrote(archived, archived / "_checkpoint", len(super().names(folder)) + 1)
        return super().names(folder)


def test_a_run_that_is_at_work_makes_neither_older(
    folder: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(folder, checkpoint)
    wrote(folder, checkpoint, 3)
    monkeypatch.setattr(archive_folder, "HadoopFiles", AtWork)
    archive(folder).belongs_to(str(checkpoint))


def test_one_that_was_moved_does_not_go_on(folder: Path, checkpoint: Path, tmp_path: Path) -> None:
    begun(folder, checkpoint)
    wrote(folder, checkpoint, 3)
    moved = tmp_path / "moved"
    folder.rename(moved)
    with pytest.raises(
        WrongOption, match=rf"^file:{moved} was written as file:{folder}, and Spark [^\n]+$"
    ):
        archive(moved).belongs_to(str(moved / "_checkpoint"))
    assert archive(moved).files() == [f"topic=t/date=2026-11-22/{number}" for number in range(3)]


def test_one_that_was_moved_before_anything_was_in_it_goes_on(
    folder: Path, checkpoint: Path, tmp_path: Path
) -> None:
    begun(folder, checkpoint)
    moved = folder.rename(tmp_path / "moved")
    archive(moved).belongs_to(str(moved / "_checkpoint"))


def test_what_a_run_named_that_archived_nothing_may_be_left_out(
    folder: Path, checkpoint: Path
) -> None:
    begun(folder, checkpoint)
    again = archive(folder)
    again.require_all_named("other".__eq__, str(checkpoint))
    again.belongs_to(str(checkpoint))
    again.note({"other": 1})
    put(checkpoint / "offsets", [0])  # the batch is not written yet
    third = archive(folder)
    assert third.partitions == {"other": 1}
    with pytest.raises(WrongOption, match=rf"^{folder} is also an archive of other: "):
        third.require_all_named("t".__eq__, str(checkpoint))


def test_the_type_of_json_is_that_of_the_first_files(folder: Path, checkpoint: Path) -> None:
    begun(folder, checkpoint).note_json("struct<a:int>")
    archive(folder).note_json("struct<b:int>")  # nothing is archived yet
    wrote(folder, checkpoint, 1)
    archive(folder).note_json("struct<b:int>")
    for other in ("struct<a:int>", ""):
        with pytest.raises(
            WrongOption, match=r" has struct<b:int> as --json-schema: give the same"
        ):
            archive(folder).note_json(other)


def test_an_archive_without_json_gets_none_later(folder: Path, checkpoint: Path) -> None:
    begun(folder, checkpoint).note_json("")
    wrote(folder, checkpoint, 1)
    archive(folder).note_json("")
    with pytest.raises(WrongOption, match=r" has no --json-schema: give the same"):
        archive(folder).note_json("struct<a:int>")


class BesideAnother(LocalFiles):
    """Another first run creates each note just before this one."""

    def write(self, file: str, text: str, only_new: bool = False) -> None:
        super().write(file, '{"name": "other"}')
        super().write(file, text, only_new)


def test_of_two_first_runs_at_once_one_is_refused(
    folder: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_folder, "HadoopFiles", BesideAnother)
    with pytest.raises(WrongOption, match=rf"^another run is beginning an archive in {folder}$"):
        archive(folder).belongs_to(str(checkpoint))


def test_a_run_that_was_killed_between_the_two_notes_begins_again(
    folder: Path, checkpoint: Path
) -> None:
    begun(folder, checkpoint)
    (folder / "_ottla_archive.json").unlink()
    begun(folder, checkpoint)
    wrote(folder, checkpoint, 1)
    archive(folder).belongs_to(str(checkpoint))


def test_a_log_of_something_else_is_refused(folder: Path) -> None:
    put(folder / "_spark_metadata", [0], "v1\n" + json.dumps({"path": "file:///else/where/it"}))
    with pytest.raises(JobFailed, match=rf"^the log in {folder} is not of an archive: "):
        archive(folder).files()
