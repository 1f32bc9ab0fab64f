"""Which files of an archive count, from the log that Spark keeps in its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from interfaces.spark.jobs.sink_log import SinkLog, newest_in
from interfaces.spark.query.failures import JobFailed
from tests.unit.interfaces.spark.local_files import LocalFiles


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "_spark_metadata").mkdir()
    return tmp_path / "_spark_metadata"


def line(file: str, place: str = "file:///was/there") -> str:
    return json.dumps({"path": f"{place}/topic=t/date=2026-11-22/{file}", "action": "add"})


def of(log: Path, files: LocalFiles | None = None) -> SinkLog:
    return SinkLog(cast(Any, files or LocalFiles()), str(log.parent))


def names(log: Path, files: LocalFiles | None = None) -> list[str]:
    return [file.removeprefix("topic=t/date=2026-11-22/") for file in of(log, files).files()]


def test_the_newest_summary_and_what_came_after_it(log: Path) -> None:
    (log / "8").write_text("v1\n" + line("gone-from-the-summary"))
    (log / "9.compact").write_text("\n".join(["v1", line("a"), line("b")]))
    (log / "10").write_text("v1\n" + line("c"))
    (log / "11").write_text("v1")
    (log / "12.tmp").write_text("v1\n" + line("never-finished"))
    assert names(log) == ["a", "b", "c"]
    assert of(log).newest() == 11


def test_without_a_summary_and_without_a_log(log: Path) -> None:
    (log / "0").write_text("v1\n" + line("a"))
    (log / "1").write_text("v1\n" + line("b"))
    assert names(log) == ["a", "b"]
    assert names(log / "nothing") == []
    assert of(log / "nothing").newest() == -1


@pytest.mark.parametrize(
    "text", ["nonsense", "{}", "[]", '{"path": "file:///else/where/it.parquet"}']
)
def test_a_log_of_something_else_is_one_line(log: Path, text: str) -> None:
    (log / "0").write_text("v1\n" + text)
    with pytest.raises(JobFailed, match=r"^the log of the archive names no file of an archive: "):
        names(log)


class SummaryMeanwhile(LocalFiles):
    """Spark removes what a new summary has, between a look at the log and the reading."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def read(self, file: str) -> str | None:
        if (first := self._log / "0").exists():
            (self._log / "2.compact").write_text("\n".join(["v1", line("a"), line("b"), line("c")]))
            first.unlink()
        return super().read(file)


def test_what_is_summed_up_while_it_is_read_is_read_from_the_summary(log: Path) -> None:
    (log / "0").write_text("v1\n" + line("a"))
    (log / "1").write_text("v1\n" + line("b"))
    assert names(log, SummaryMeanwhile(log)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("there", "lost"),
    [(["1", "2"], 0), (["0", "2"], 1), (["3.compact", "4", "6"], 5), (["3.compact", "5"], 4)],
)
def test_a_batch_that_is_missing_is_one_line(log: Path, there: list[str], lost: int) -> None:
    for name in there:
        (log / name).write_text("v1\n" + line(name))
    with pytest.raises(JobFailed, match=rf"^{log} has no batch {lost}, and has later ones: "):
        names(log)


def test_where_it_was_written_is_told_of_the_newest(log: Path) -> None:
    assert of(log).place() is None
    (log / "0").write_text("v1")
    assert of(log).place() is None
    (log / "1").write_text("v1\n" + line("a", "file:///first"))
    (log / "2").write_text("v1\n" + line("b", "file:///then/a%20%5B1%5D"))
    (log / "3").write_text("v1")
    assert of(log).place() == "file:/then/a [1]"


def test_the_newest_of_a_log_is_a_number(tmp_path: Path) -> None:
    for name in ("9", "10", "metadata", "\N{SUPERSCRIPT TWO}"):
        (tmp_path / name).write_text("")
    assert newest_in(cast(Any, LocalFiles()), str(tmp_path)) == 10
