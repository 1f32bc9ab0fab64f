from __future__ import annotations

import pytest

from interfaces.kafka.wire.primitives import (
    MalformedRequest,
    finish_uvarint,
    read_uvarint,
    skip_tagged_fields,
    write_uvarint,
)

VARINTS = [
    (0, b"\x00"),
    (1, b"\x01"),
    (127, b"\x7f"),
    (128, b"\x80\x01"),
    (300, b"\xac\x02"),
    (16383, b"\xff\x7f"),
    (16384, b"\x80\x80\x01"),
    ((1 << 31) - 1, b"\xff\xff\xff\xff\x07"),
]


@pytest.mark.parametrize("value, encoded", VARINTS)
def test_a_varint_is_written_and_read_back(value: int, encoded: bytes) -> None:
    assert write_uvarint(value) == encoded
    assert read_uvarint(b"?" + encoded + b"?", 1) == (value, 1 + len(encoded))


def test_a_varint_is_finished_from_its_first_byte() -> None:
    assert finish_uvarint(b"\xac\x02", 1, 0xAC) == (300, 2)


def test_a_varint_of_six_bytes_is_malformed() -> None:
    with pytest.raises(MalformedRequest):
        read_uvarint(b"\x80\x80\x80\x80\x80\x01", 0)


def test_a_varint_without_an_end_is_malformed_after_five_bytes() -> None:
    with pytest.raises(MalformedRequest):
        read_uvarint(b"\xff" * 1_000_000, 0)


def test_a_varint_that_is_cut_ends_the_bytes() -> None:
    with pytest.raises(IndexError):
        read_uvarint(b"\x80\x80", 0)


def test_tagged_fields_are_stepped_over() -> None:
    section = b"\x00\x02ab" + b"\x07\x00" + b"\x80\x01\x01z"
    assert skip_tagged_fields(section + b"tail", 0, 3) == len(section)


def test_a_count_of_tagged_fields_above_127_continues_as_a_varint() -> None:
    section = b"\x01" + b"\x05\x00" * 200
    assert skip_tagged_fields(section, 0, 0x80 | (200 & 0x7F)) == len(section)


def test_more_tagged_fields_than_bytes_are_malformed() -> None:
    with pytest.raises(MalformedRequest):
        skip_tagged_fields(b"\xff\xff\xff\x07" + bytes(10), 0, 0xFF)


def test_a_tagged_field_longer_than_the_rest_is_malformed() -> None:
    with pytest.raises(MalformedRequest):
        skip_tagged_fields(b"\x00\x05abcd", 0, 1)
