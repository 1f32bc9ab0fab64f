"""Whether a result can be kept is known before the run, and the look leaves nothing behind."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

import pytest

from interfaces.spark.jobs.job import check_results, is_local
from interfaces.spark.query.failures import JobFailed


def test_where_it_can_be_kept_nothing_is_left_or_lost(tmp_path: Path) -> None:
    earlier, pipe = tmp_path / "earlier.json", tmp_path / "pipe"
    earlier.write_text("{}")
    os.mkfifo(pipe)
    before = sorted(tmp_path.iterdir())
    check_results(Namespace(json=str(earlier), report=str(tmp_path / "new" / "more" / "r.html")))
    check_results(Namespace(json=str(pipe), report=None))
    check_results(Namespace(json="-", to=str(tmp_path / "to" / "be" / "made")))
    check_results(Namespace(to="s3a://bucket/archive"))
    assert earlier.read_text() == "{}"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("option", ["json", "report", "to"])
def test_where_it_cannot_it_is_one_line(option: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file" / "below")
    with pytest.raises(JobFailed, match=r"below cannot be written: (Not a directory|File exists)$"):
        check_results(Namespace(**{option: path}))


def test_where_it_can_only_be_begun_nothing_is_left_either(tmp_path: Path) -> None:
    name = "x" * 256
    with pytest.raises(JobFailed, match=r"cannot be written: File name too long$"):
        check_results(Namespace(to=str(tmp_path / "new" / name)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "it_is"),
    [("a", True), ("/a:b", True), ("./a:b", True), ("file:/a", False), ("s3a://a", False)],
)
def test_what_has_a_scheme_is_sparks_to_find(path: str, it_is: bool) -> None:
    assert is_local(path) is it_is


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match=r"cannot be written: Is a directory$"):
        check_results(Namespace(json=str(tmp_path)))
