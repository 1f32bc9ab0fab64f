from __future__ import annotations

import pytest

from domain.configs.settings.definition import LONG_MAX
from domain.groups.offsets import (
    counts_from,
    expire_timestamp_ms,
    is_expired,
    metadata_units,
)
from tests.fakes.groups import FakeGroup, committed

RETENTION_MS = 1000


def group(expires_from: int | None = 0, *topics: str) -> FakeGroup:
    found = FakeGroup("g")
    found.expires_from = expires_from
    found.topics = set(topics)
    return found


def expires(at_ms: int, group: FakeGroup, expires_ms: int | None = None) -> bool:
    one = committed(at_ms=0, expires_ms=expires_ms)
    return is_expired(one, counts_from(group, "t"), at_ms, RETENTION_MS)


def test_an_offset_expires_after_the_retention_or_at_its_expire_timestamp() -> None:
    assert not expires(1499, group(500))
    assert expires(1500, group(500))
    assert not expires(4999, group(0), expires_ms=5000)
    assert expires(5000, group(0), expires_ms=5000)
    assert expires(10, group(0), expires_ms=10)


@pytest.mark.parametrize("expires_ms", [None, 1])
def test_an_offset_that_the_group_protects_does_not_expire(expires_ms: int | None) -> None:
    for protecting in (group(None), group(0, "t")):
        assert not expires(10**9, protecting, expires_ms)


def test_a_retention_time_starts_with_the_commit() -> None:
    assert expire_timestamp_ms(-1, 1000) is None
    assert expire_timestamp_ms(0, 1000) == 1000
    assert expire_timestamp_ms(500, 1000) == 1500
    assert expire_timestamp_ms(LONG_MAX, 1000) == LONG_MAX
    assert expire_timestamp_ms(-2, 1000) == 998
    assert expire_timestamp_ms(-LONG_MAX, 1000) == 0


@pytest.mark.parametrize(("text", "units"), [("", 0), ("abc", 3), ("é", 1), ("漢字", 2), ("😀", 2)])
def test_the_length_of_metadata_is_counted_as_in_kafka(text: str, units: int) -> None:
    assert metadata_units(text) == units


def test_offsets_are_compared_by_all_fields() -> None:
    assert committed(7, "m", expires_ms=3) == committed(7, "m", expires_ms=3)
    assert committed(7) != committed(8)
    assert committed(7, "m") != committed(7)
    assert "offset=7" in repr(committed(7))
