"""Which partition a group has, and what no record can hold; the bytes are in tests/golden."""

from __future__ import annotations

import pytest

from domain.groups.classic.metadata_record import group_record
from domain.groups.offsets_topic import TooLong, offset_records, partition_of
from tests.fakes.groups import committed


@pytest.mark.parametrize(
    ("group_id", "java_hash"),
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
def test_the_partition_of_a_group_is_that_of_kafka(group_id: str, java_hash: int) -> None:
    expected = 0 if java_hash == -(1 << 31) else abs(java_hash) % 50
    assert partition_of(group_id, 50) == expected


def test_a_text_that_does_not_fit_into_a_record_is_refused() -> None:
    one = committed()
    assert offset_records("g" * 32767, [("t", 0, one)])
    with pytest.raises(TooLong):
        offset_records("g" * 32768, [("t", 0, one)])
    with pytest.raises(TooLong):
        group_record("ä" * 16384, None)
