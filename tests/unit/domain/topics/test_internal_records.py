"""Which partition of an internal topic a group or a transactional id has."""

from __future__ import annotations

import pytest

from domain.topics.internal_records import partition_of


@pytest.mark.parametrize(
    ("name", "java_hash"),
    [
        ("", 0),
        ("a", 97),
        ("BB", 2112),
        ("console-consumer-74086", 164053456),
        ("Grüße", 69215351),
        ("😀", 1772899),
        ("polygenelubricants", -(1 << 31)),
    ],
)
def test_the_partition_of_a_group_is_that_of_kafka(name: str, java_hash: int) -> None:
    expected = 0 if java_hash == -(1 << 31) else abs(java_hash) % 50
    assert partition_of(name, 50) == expected
