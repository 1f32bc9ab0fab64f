"""Results that cannot be written are refused before the run, which leaves no files."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

import pytest

from interfaces.spark.jobs.job import check_results, is_local
from interfaces.spark.query.failures import JobFailed


def test_the_check_of_results_writes_and_changes_no_file(tmp_path: Path) -> None:
    earlier, pipe = tmp_path / "earlier.json", tmp_path / "pipe"
    earlier.write_text("{}")
    os.mkfifo(pipe)
    before = sorted(tmp_path.iterdir())
    check_results(Namespace(json=str(earlier), report=str(tmp_path / "new" / "more" / "r.html")))
    check_results(Namespace(json=str(pipe), report=None))
    check_results(Namespace(json="-", to=str(tmp_path / "new" / "archive")))
    check_results(Namespace(to="s3a://bucket/archive"))
    assert earlier.read_text() == "{}"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("option", ["json", "report", "to"])
def test_below_a_file_no_result_can_be_written(option: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file" / "below")
    with pytest.raises(JobFailed, match=r"below cannot be written: .*file is no folder$"):
        check_results(Namespace(**{option: path}))


@pytest.mark.parametrize(
    ("path", "local"),
    [("a", True), ("/a:b", True), ("./a:b", True), ("file:/a", False), ("s3a://a", False)],
)
def test_a_path_with_a_scheme_is_not_local(path: str, local: bool) -> None:
    assert is_local(path) is local
