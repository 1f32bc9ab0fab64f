"""The memory of Spark's JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.spark import memory


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("0::/a.slice/b.scope", "memory.max"),
        ("4:memory:/a.slice/b.scope", "memory/memory.limit_in_bytes"),
    ],
    ids=["v2", "v1"],
)
@pytest.mark.parametrize("group", ["", "a.slice", "a.slice/b.scope"])
def test_the_lowest_limit_of_a_group_and_those_above_it_counts(
    line: str, file: str, group: str, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    unlimited = memory.whole_mb(own, tmp_path)
    own.write_text(f"7:blkio:/\n{line}\n")
    folder, name = (tmp_path / file).parent, (tmp_path / file).name
    (folder / "a.slice" / "b.scope").mkdir(parents=True)
    for each in ("", "a.slice", "a.slice/b.scope"):
        (folder / each / name).write_text("max\n")
    assert memory.whole_mb(own, tmp_path) == unlimited
    (folder / group / name).write_text("209715200\n")
    assert memory.whole_mb(own, tmp_path) == 200


def test_a_container_that_sees_the_path_of_the_machine_has_its_limit_at_the_top(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own"
    own.write_text("0::/system.slice/container.scope\n")
    (tmp_path / "memory.max").write_text("209715200\n")
    assert memory.whole_mb(own, tmp_path) == 200


@pytest.mark.parametrize(("whole_mb", "jvm_mb"), [(4096, 1024), (64, 512), (10**6, 4096)])
def test_the_jvm_gets_a_share_within_bounds(
    whole_mb: int, jvm_mb: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "whole_mb", lambda: whole_mb)
    assert memory.for_the_jvm_mb() == jvm_mb
