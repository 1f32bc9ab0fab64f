from __future__ import annotations

import pytest

from domain.configs.settings.definition import LONG_MAX
from domain.errors import GroupIdNotFound, IllegalGeneration, NonEmptyGroup
from domain.groups.group import GroupKind
from domain.groups.offsets import (
    check_offset_delete,
    counts_from,
    expire_timestamp_ms,
    is_expired,
    metadata_units,
    refuse_unknown_group,
)
from tests.fakes.groups import FakeGroup, committed

RETENTION_MS = 1000


def group(expires_from: int | None = 0, *topics: str) -> FakeGroup:
    found = FakeGroup("g")
    found.expires_from = expires_from
    found.topics = set(topics)
    return found


def test_an_offset_expires_when_its_retention_is_over() -> None:
    one = committed(at_ms=0)
    assert not is_expired(one, counts_from(group(500), "t"), 1499, RETENTION_MS)
    assert is_expired(one, counts_from(group(500), "t"), 1500, RETENTION_MS)


def test_nothing_expires_where_the_group_says_no() -> None:
    assert not is_expired(committed(at_ms=0), counts_from(group(None), "t"), 10**9, RETENTION_MS)
    assert not is_expired(committed(at_ms=0), counts_from(group(0, "t"), "t"), 10**9, RETENTION_MS)


def test_an_expire_timestamp_of_its_own_counts_instead_of_the_retention() -> None:
    late = committed(at_ms=0, expires_ms=5000)
    assert not is_expired(late, counts_from(group(0), "t"), 4999, RETENTION_MS)
    assert is_expired(late, counts_from(group(0), "t"), 5000, RETENTION_MS)
    assert is_expired(
        committed(at_ms=0, expires_ms=10), counts_from(group(0), "t"), 10, RETENTION_MS
    )


def test_not_even_an_expire_timestamp_counts_where_the_group_says_no() -> None:
    assert not is_expired(
        committed(expires_ms=1), counts_from(group(None), "t"), 10**9, RETENTION_MS
    )


def test_a_retention_time_counts_from_the_commit() -> None:
    assert expire_timestamp_ms(-1, 1000) is None
    assert expire_timestamp_ms(0, 1000) == 1000
    assert expire_timestamp_ms(500, 1000) == 1500
    assert expire_timestamp_ms(LONG_MAX, 1000) == LONG_MAX
    assert expire_timestamp_ms(-2, 1000) == 998
    assert expire_timestamp_ms(-LONG_MAX, 1000) == 0


@pytest.mark.parametrize(("text", "units"), [("", 0), ("abc", 3), ("é", 1), ("漢字", 2), ("😀", 2)])
def test_the_length_of_metadata_is_counted_as_kafka_counts_it(text: str, units: int) -> None:
    assert metadata_units(text) == units


def test_a_generation_of_an_unknown_group_is_refused_as_the_client_can_understand() -> None:
    with pytest.raises(GroupIdNotFound):
        refuse_unknown_group(knows_epochs=True)
    with pytest.raises(IllegalGeneration):
        refuse_unknown_group(knows_epochs=False)


def test_offsets_of_a_live_group_are_deleted_only_where_it_says_what_it_reads() -> None:
    connect = group()
    connect.type = "connect"
    check_offset_delete(connect)
    connect.members = {"m": None}
    with pytest.raises(NonEmptyGroup):
        check_offset_delete(connect)
    connect.type = "consumer"
    check_offset_delete(connect)
    modern = FakeGroup("g", GroupKind.CONSUMER)
    modern.members = {"m": None}
    check_offset_delete(modern)


def test_two_offsets_are_equal_where_all_of_them_is() -> None:
    assert committed(7, "m", expires_ms=3) == committed(7, "m", expires_ms=3)
    assert committed(7) != committed(8)
    assert committed(7, "m") != committed(7)
    assert "offset=7" in repr(committed(7))
