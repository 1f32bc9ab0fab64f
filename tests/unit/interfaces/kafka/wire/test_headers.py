from __future__ import annotations

import struct

import pytest

from interfaces.kafka.wire.headers import (
    CLIENT_ID_START,
    response_start,
    skip_header_tags,
    unpack_fixed_header,
)
from interfaces.kafka.wire.primitives import MalformedRequest


def test_the_fixed_part_has_key_version_correlation_id_and_length_of_the_client_id() -> None:
    frame = memoryview(struct.pack(">hhih", 3, 12, -5, -1) + b"body")
    assert unpack_fixed_header(frame) == (3, 12, -5, -1)
    assert bytes(frame[CLIENT_ID_START:]) == b"body"


def test_tagged_fields_are_skipped() -> None:
    frame = memoryview(b"\x02\x00\x01a\x05\x02bcBODY")
    assert bytes(frame[skip_header_tags(frame, 0) :]) == b"BODY"
    assert skip_header_tags(memoryview(b"\x00BODY"), 0) == 1


@pytest.mark.parametrize(
    "tags", [b"", b"\x01", b"\x01\x00", b"\x01\x00\x05a", b"\xff\xff\xff\xff\xff\xff", b"\x7f"]
)
def test_incomplete_tagged_fields_are_malformed(tags: bytes) -> None:
    with pytest.raises(MalformedRequest):
        skip_header_tags(memoryview(tags), 0)


def test_a_response_starts_with_its_length_and_correlation_id() -> None:
    assert response_start(7, 10, False) == b"\0\0\0\x0e\0\0\0\x07"
    assert response_start(7, 10, True) == b"\0\0\0\x0f\0\0\0\x07\0"
    assert response_start(-1, 0, False) == b"\0\0\0\x04\xff\xff\xff\xff"
