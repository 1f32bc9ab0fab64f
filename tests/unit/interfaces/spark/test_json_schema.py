"""What --json-schema says: what is plainly wrong is told before Spark starts, and nothing else."""

from __future__ import annotations

import pytest

from interfaces.spark.jobs.json_schema import require_schema
from interfaces.spark.query.failures import WrongOption


@pytest.mark.parametrize(
    "text",
    [
        "id BIGINT",
        "id: bigint, name: string",
        "`a, b` DECIMAL(10, 2) NOT NULL, `c``d` char(3)",
        "m MAP<STRING, ARRAY<STRUCT<a: INT, b: DATE>>>, n INT COMMENT 'one, two (of <many'",
        "at INTERVAL DAY TO SECOND, größe double",
        "struct<id: bigint>",
    ],
)
def test_what_spark_takes_is_taken(text: str) -> None:
    require_schema(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id BIG INT", "there is no type BIG"),
        ("id BIGINT, name text", "there is no type text"),
        ("id", "'id' is no column like 'id BIGINT'"),
        ("id INT,", "'' is no column like 'id BIGINT'"),
        (" ", "'' is no column like 'id BIGINT'"),
        ("id <INT>", "'id <INT>' is no column like 'id BIGINT'"),
    ],
)
def test_what_is_plainly_wrong_is_one_line(text: str, why: str) -> None:
    with pytest.raises(WrongOption) as refusal:
        require_schema(text)
    assert str(refusal.value) == f"--json-schema {text!r}: {why}"
