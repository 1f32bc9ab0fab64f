"""Which files of an archive count, from the log that Spark keeps in its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from interfaces.spark.failures import JobFailed
from interfaces.spark.jobs import archive_folder
from interfaces.spark.jobs.archive_folder import ArchiveFolder


class Files:
    def __init__(self, _spark: object) -> None:
        pass

    def names(self, folder: str) -> list[str]:
        return sorted(each.name for each in Path(folder).glob("*"))

    def read(self, file: str) -> str | None:
        return Path(file).read_text() if Path(file).exists() else None


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(archive_folder, "_Files", Files)
    (tmp_path / "_spark_metadata").mkdir()
    return tmp_path / "_spark_metadata"


def line(file: str) -> str:
    return json.dumps(
        {"path": f"file:///was/there/topic=t/date=2026-11-22/{file}", "action": "add"}
    )


def files(log: Path) -> list[str]:
    found = ArchiveFolder(cast(Any, None), str(log.parent)).files()
    return [file.removeprefix("topic=t/date=2026-11-22/") for file in found]


def test_the_newest_summary_and_what_came_after_it(log: Path) -> None:
    (log / "8").write_text("v1\n" + line("gone-from-the-summary"))
    (log / "9.compact").write_text("\n".join(["v1", line("a"), line("b")]))
    (log / "10").write_text("v1\n" + line("c"))
    (log / "11").write_text("v1")
    (log / "12.tmp").write_text("v1\n" + line("never-finished"))
    assert files(log) == ["a", "b", "c"]


def test_without_a_summary_and_without_a_log(log: Path) -> None:
    (log / "0").write_text("v1\n" + line("a"))
    (log / "1").write_text("v1\n" + line("b"))
    assert files(log) == ["a", "b"]
    assert files(log / "nothing") == []


@pytest.mark.parametrize(
    "text", ["nonsense", "{}", "[]", '{"path": "file:///else/where/it.parquet"}']
)
def test_a_log_of_something_else_is_one_line(log: Path, text: str) -> None:
    (log / "0").write_text("v1\n" + text)
    with pytest.raises(JobFailed, match=r"^the log of the archive names no file of an archive: "):
        files(log)


@pytest.mark.parametrize(
    ("old", "new", "partitions"),
    [
        (None, '{"name": "x", "partitions": {"t": 2}}', {"t": 2}),
        (None, '{"name": "x", "part', {}),
        ('{"name": "x", "partitions": {"t": 1}}', '{"name": "x", "part', {"t": 1}),
    ],
)
def test_a_note_that_was_being_written_when_it_was_killed(
    log: Path, old: str | None, new: str, partitions: dict[str, int]
) -> None:
    note = log.parent / "_ottla_archive.json"
    if old is not None:
        note.write_text(old)
    note.with_name(note.name + ".new").write_text(new)
    assert ArchiveFolder(cast(Any, None), str(log.parent)).partitions == partitions
