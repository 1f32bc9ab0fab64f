"""Paths for Spark's readers, which take them for patterns."""

from __future__ import annotations

import pytest

from interfaces.spark.jobs.hadoop_files import literally


@pytest.mark.parametrize(
    ("path", "escaped"),
    [
        ("/plain/topic=t/date=2026-11-22/a.parquet", "/plain/topic=t/date=2026-11-22/a.parquet"),
        ("/a [1]/{b,c}", r"/a \[1\]/\{b,c\}"),
        ("/a*/?/\\", r"/a\*/\?/\\"),
        ("file:/a%20[b]", r"file:/a%20\[b\]"),
    ],
)
def test_pattern_characters_of_a_path_are_escaped(path: str, escaped: str) -> None:
    assert literally(path) == escaped
