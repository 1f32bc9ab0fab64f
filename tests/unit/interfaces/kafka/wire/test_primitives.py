from __future__ import annotations

import pytest

from interfaces.kafka.wire.primitives import (
    MalformedRequest,
    finish_uvarint,
    read_uvarint,
    skip_tagged_fields,
    write_uvarint,
)


@pytest.mark.parametrize(
    "value, encoded",
    [
        *((0, b"\x00"), (1, b"\x01"), (127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")),
        *((16383, b"\xff\x7f"), (16384, b"\x80\x80\x01")),
        ((1 << 31) - 1, b"\xff\xff\xff\xff\x07"),
    ],
)
def test_a_varint_is_written_and_read_back(value: int, encoded: bytes) -> None:
    assert write_uvarint(value) == encoded
    assert read_uvarint(b"?" + encoded + b"?", 1) == (value, 1 + len(encoded))
    if len(encoded) > 1:
        assert finish_uvarint(encoded, 1, encoded[0]) == (value, len(encoded))


@pytest.mark.parametrize("encoded", [b"\x80\x80\x80\x80\x80\x01", b"\xff" * 1_000_000])
def test_a_varint_longer_than_five_bytes_is_malformed(encoded: bytes) -> None:
    with pytest.raises(MalformedRequest):
        read_uvarint(encoded, 0)


def test_an_incomplete_varint_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        read_uvarint(b"\x80\x80", 0)


@pytest.mark.parametrize(
    ("section", "count"),
    [
        (b"\x00\x02ab" + b"\x07\x00" + b"\x80\x01\x01z", 3),
        (b"\x01" + b"\x05\x00" * 200, 0x80 | (200 & 0x7F)),  # a count above 127 is a varint
    ],
)
def test_tagged_fields_are_skipped(section: bytes, count: int) -> None:
    assert skip_tagged_fields(section + b"tail", 0, count) == len(section)


@pytest.mark.parametrize(
    ("section", "count"), [(b"\xff\xff\xff\x07" + bytes(10), 0xFF), (b"\x00\x05abcd", 1)]
)
def test_tagged_fields_that_are_too_many_or_too_long_are_malformed(
    section: bytes, count: int
) -> None:
    with pytest.raises(MalformedRequest):
        skip_tagged_fields(section, 0, count)
