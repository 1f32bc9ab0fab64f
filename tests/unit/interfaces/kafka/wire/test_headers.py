from __future__ import annotations

import struct

import pytest

from interfaces.kafka.wire.headers import (
    response_start,
    skip_client_id,
    skip_header_tags,
    unpack_fixed_header,
)
from interfaces.kafka.wire.primitives import MalformedRequest


def request(tail: bytes) -> memoryview:
    return memoryview(struct.pack(">hhi", 3, 12, -5) + tail)


def test_the_fixed_part_is_key_version_and_correlation_id() -> None:
    assert unpack_fixed_header(request(b"")) == (3, 12, -5)


@pytest.mark.parametrize(
    ("tail", "client_id", "position"),
    [
        (b"\xff\xff body", None, 10),
        (b"\x80\x00 body", None, 10),
        (b"\x00\x00 body", b"", 10),
        (b"\x00\x03abc body", b"abc", 13),
        (b"\x00\x03abc", b"abc", 13),
        (b"\x00\x02\xff\xfe", b"\xff\xfe", 12),
    ],
)
def test_a_client_id_is_null_or_bytes(tail: bytes, client_id: bytes | None, position: int) -> None:
    assert skip_client_id(request(tail)) == (client_id, position)


@pytest.mark.parametrize(
    "tail", [b"", b"\x00", b"\x00\x01", b"\x00\x03ab", b"\x7f\xff" + b"x" * 50]
)
def test_a_header_that_ends_early_is_malformed(tail: bytes) -> None:
    with pytest.raises(MalformedRequest):
        skip_client_id(request(tail))


def test_tags_are_skipped() -> None:
    frame = memoryview(b"\x02\x00\x01a\x05\x02bcBODY")
    assert bytes(frame[skip_header_tags(frame, 0) :]) == b"BODY"
    assert skip_header_tags(memoryview(b"\x00BODY"), 0) == 1


@pytest.mark.parametrize(
    "tags", [b"", b"\x01", b"\x01\x00", b"\x01\x00\x05a", b"\xff\xff\xff\xff\xff\xff", b"\x7f"]
)
def test_tags_that_end_early_are_malformed(tags: bytes) -> None:
    with pytest.raises(MalformedRequest):
        skip_header_tags(memoryview(tags), 0)


def test_a_response_begins_with_its_length_and_correlation_id() -> None:
    assert response_start(7, 10, False) == b"\0\0\0\x0e\0\0\0\x07"
    assert response_start(7, 10, True) == b"\0\0\0\x0f\0\0\0\x07\0"
    assert response_start(-1, 0, False) == b"\0\0\0\x04\xff\xff\xff\xff"
