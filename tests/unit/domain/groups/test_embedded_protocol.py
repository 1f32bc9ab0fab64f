from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.groups.embedded_protocol import (
    EmbeddedSubscription,
    Unreadable,
    read_assignment,
    read_subscription,
    write_assignment,
)

#: What a Java consumer sends in version 3: topic `t`, no user data, owns t-1, generation 7, rack r.
JAVA = bytes.fromhex(
    "0003 00000001 0001 74 ffffffff 00000001 0001 74 00000001 00000001 00000007 0001 72"
)


@pytest.mark.parametrize(
    ("version", "owned", "rack_id"),
    [(0, {}, None), (1, {"t": [1]}, None), (2, {"t": [1]}, None), (3, {"t": [1]}, "r")],
)
def test_each_version_has_its_fields(
    version: int, owned: dict[str, list[int]], rack_id: str | None
) -> None:
    message = struct.pack(">h", version) + JAVA[2:]
    assert read_subscription(message) == EmbeddedSubscription(
        version, frozenset({"t"}), owned, rack_id
    )


def test_a_newer_version_is_decoded_as_the_newest_known() -> None:
    message = struct.pack(">h", 9) + JAVA[2:] + b"more"
    assert read_subscription(message)._replace(version=9) == read_subscription(JAVA)._replace(
        version=9
    )


@pytest.mark.parametrize("end", range(len(JAVA)))
def test_a_truncated_subscription_is_unreadable(end: int) -> None:
    with pytest.raises(Unreadable):
        read_subscription(JAVA[:end])


@pytest.mark.parametrize(
    "message",
    [
        "ffff 00000000",  # version -1
        "0000 7fffffff",  # two billion topics
        "0000 ffffffff",
        "0000 00000001 ffff",  # a null topic
        "0000 00000001 0001 ff ffffffff",  # no UTF-8
    ],
)
def test_a_malformed_subscription_is_unreadable(message: str) -> None:
    with pytest.raises(Unreadable):
        read_subscription(bytes.fromhex(message))


@given(st.binary(max_size=64))
def test_any_bytes_are_decoded_or_unreadable(message: bytes) -> None:
    for read in (read_subscription, read_assignment):
        try:
            read(message)
        except Unreadable:
            pass


partitions = st.dictionaries(
    st.text(max_size=5), st.lists(st.integers(0, 99), min_size=1, max_size=8), max_size=5
)


@given(partitions, st.integers(0, 3))
def test_an_assignment_can_be_decoded_again(assigned: dict[str, list[int]], version: int) -> None:
    found = read_assignment(write_assignment(version, assigned))
    assert found.partitions == {name: sorted(ones) for name, ones in assigned.items()}
    assert not found.has_user_data


def test_an_assignment_has_kafkas_bytes() -> None:
    assert write_assignment(1, {"t": [0]}).hex() == "0001000000010001740000000100000000ffffffff"


def test_user_data_and_empty_assignments_are_recognised() -> None:
    assert read_assignment(bytes.fromhex("0000 00000000 00000001 ff")).has_user_data
    assert read_assignment(b"") == ({}, False)
