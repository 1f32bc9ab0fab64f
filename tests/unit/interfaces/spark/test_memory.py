"""How much memory a container's limits leave to Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.spark import memory


@pytest.mark.parametrize(
    ("line", "top", "name"),
    [("0::/a/b", "", "memory.max"), ("4:cpu,memory:/a/b", "memory", "memory.limit_in_bytes")],
)
def test_the_least_of_the_groups_above_counts(
    line: str, top: str, name: str, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.write_text(f"7:blkio:/\n{line}\n")
    (tmp_path / top / "a" / "b").mkdir(parents=True)
    (tmp_path / top / "a" / "b" / name).write_text("max\n")
    (tmp_path / top / "a" / name).write_text("3000\n")
    (tmp_path / top / name).write_text("2000\n")
    assert memory.limits(own, tmp_path) == [3000, 2000]


def test_without_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert memory.limits(tmp_path / "own", tmp_path) == []


@pytest.mark.parametrize(("limit_mb", "jvm_mb"), [(4096, 1024), (64, 512)])
def test_the_jvm_gets_a_share_of_the_limit(
    limit_mb: int, jvm_mb: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "limits", lambda *_: [limit_mb * 2**20])
    assert memory.for_the_jvm_mb() == jvm_mb
