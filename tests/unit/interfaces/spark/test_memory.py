"""The memory of Spark's JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.spark import memory


@pytest.mark.parametrize(("limit", "is_limited"), [("209715200\n", True), ("max\n", False)])
def test_the_limit_of_a_container_counts(limit: str, is_limited: bool, tmp_path: Path) -> None:
    file = tmp_path / "memory.max"
    file.write_text(limit)
    unlimited = memory.whole_mb([tmp_path / "none"])
    assert memory.whole_mb([tmp_path / "none", file]) == (200 if is_limited else unlimited)


@pytest.mark.parametrize(("whole_mb", "jvm_mb"), [(4096, 1024), (64, 512), (10**6, 4096)])
def test_the_jvm_gets_a_share_within_bounds(
    whole_mb: int, jvm_mb: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "whole_mb", lambda: whole_mb)
    assert memory.for_the_jvm_mb() == jvm_mb
