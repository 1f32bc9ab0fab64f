from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRecord
from domain.messages.varint import read_varint, read_varlong, varlong
from tests.fakes.batches import varint as independent_varint


@pytest.mark.parametrize(
    "encoded, number",
    [
        ("00", 0),
        ("01", -1),
        ("02", 1),
        ("7f", -64),
        ("8001", 64),
        ("feffffff0f", 2**31 - 1),
        ("ffffffff0f", -(2**31)),
    ],
)
def test_numbers_are_encoded_as_in_kafka(encoded: str, number: int) -> None:
    data = bytes.fromhex(encoded)
    assert read_varint(data, 0) == (number, len(data))
    assert read_varlong(b"\xff" + data + b"\x02", 1) == (number, len(data) + 1)
    assert varlong(number) == data


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_int64_can_be_decoded_again(number: int) -> None:
    assert varlong(number) == independent_varint(number)
    assert read_varlong(varlong(number), 0) == (number, len(varlong(number)))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff\xff"])
def test_a_truncated_varint_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRecord, match="ends within"):
        read_varint(data, 0)


def test_an_endless_varint_is_refused() -> None:
    endless = b"\x80" * 1_000_000
    with pytest.raises(InvalidRecord, match="longer than 5 bytes"):
        read_varint(endless, 0)
    with pytest.raises(InvalidRecord, match="longer than 10 bytes"):
        read_varlong(endless, 0)


def test_bits_beyond_the_type_are_refused() -> None:
    with pytest.raises(InvalidRecord, match="32 bits"):
        read_varint(b"\xff\xff\xff\xff\x1f", 0)
    with pytest.raises(InvalidRecord, match="64 bits"):
        read_varlong(b"\xff" * 9 + b"\x02", 0)
