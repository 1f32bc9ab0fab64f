from __future__ import annotations

from hashlib import blake2s
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.compaction.records import (
    DIGEST_BYTES,
    LONGEST_KEY,
    Records,
    find_keyless,
    read_records,
    record_bounds,
)
from domain.errors import InvalidRecord
from domain.messages.message import decode_messages
from tests.fakes.batches import records_section, varint

BASE = 1000
TIMESTAMP = 1_700_000_000_000
#: Lengths take up to three groups.
FIELDS = st.none() | st.sampled_from([0, 1, 30, 31, 63, 64, 8191, 8192, 20_000]).map(bytes)
ROWS = st.lists(
    st.tuples(
        FIELDS,
        FIELDS,
        st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2),
        st.integers(-1, 1 << 60),
    ),
    min_size=1,
    max_size=4,
)


def read(section: bytes, count: int = 1, last_offset_delta: int = 0) -> Records:
    return read_records(section, BASE, last_offset_delta, count)


def section(*fields: bytes) -> bytes:
    """One record of these bytes, after its length."""
    record = b"".join(fields)
    return varint(len(record)) + record


ZERO, NULL, ONE = varint(0), varint(-1), varint(1)
RECORD = section(b"\0", ZERO, ZERO, ONE, b"k", ONE, b"v", ZERO)


@given(ROWS)
def test_keys_offsets_and_bounds_are_those_of_the_messages(rows: list[Any]) -> None:
    payload = records_section(rows, TIMESTAMP)
    messages = list(decode_messages(payload, BASE, TIMESTAMP, len(rows)))
    found = read(payload, len(rows), len(rows) - 1)
    assert list(found.offsets) == [message.offset for message in messages]
    assert found.tombstones == [i for i, one in enumerate(messages) if one.value is None]
    without_key = [i for i, one in enumerate(messages) if one.key is None]
    assert find_keyless(payload, len(rows) - 1, len(rows)) == without_key
    bounds = pairwise(record_bounds(payload, len(rows)))
    for message, key, (start, end) in zip(messages, found.keys, bounds, strict=True):
        if message.key is None or len(message.key) <= LONGEST_KEY:
            assert key == message.key
        else:
            assert key == blake2s(message.key, digest_size=DIGEST_BYTES).digest()
        [alone] = decode_messages(payload[start:end], BASE, TIMESTAMP, 1)
        assert alone == message


def test_a_key_is_never_taken_for_the_digest_of_another() -> None:
    digest = blake2s(b"k" * 40, digest_size=DIGEST_BYTES).digest()
    rows = [(key, b"v", (), TIMESTAMP) for key in (b"k" * 40, digest, digest[:LONGEST_KEY])]
    assert len(set(read(records_section(rows, TIMESTAMP), 3, 2).keys)) == 3


def test_offsets_of_a_compacted_batch_have_gaps() -> None:
    first, far = (
        section(b"\0", ZERO, varint(delta), ONE, b"k", ONE, b"v", ZERO) for delta in (3, 9000)
    )
    assert read(first + far, 2, 9000).offsets == [BASE + 3, BASE + 9000]
    assert find_keyless(first + far, 9000, 2) == []


@pytest.mark.parametrize(
    ("payload", "count", "last_offset_delta"),
    [
        (RECORD, 2, 1),
        (RECORD * 2, 1, 0),
        (RECORD * 2, 2, 1),
        (RECORD[:-1], 1, 0),
        (RECORD + b"\0", 1, 0),
        (section(b"\0", ZERO, varint(7), ONE, b"k", ONE, b"v", ZERO), 1, 6),
        (section(b"\0", ZERO, varint(-1), ONE, b"k", ONE, b"v", ZERO), 1, 0),
        (section(b"\0", ZERO, varint(-9000), ONE, b"k", ONE, b"v", ZERO), 1, 0),
        (section(b"\0", ZERO, ZERO, varint(60), b"k", ONE, b"v", ZERO), 1, 0),
        (section(b"\0", ZERO, ZERO, varint(6), b"key with no value"[:6]) + RECORD, 2, 1),
        (varint(-2) + RECORD, 1, 0),
        (varint(-9000) + RECORD, 1, 0),
        (b"\xff" * 30, 1, 0),
        (b"\x80" * 30, 1, 0),
        (b"", 1, 0),
        (RECORD, 1 << 30, 0),
    ],
)
def test_malformed_records_are_refused(payload: bytes, count: int, last_offset_delta: int) -> None:
    assert read(RECORD).keys == [b"k"]
    with pytest.raises(InvalidRecord):
        read(payload, count, last_offset_delta)
    with pytest.raises(InvalidRecord):
        find_keyless(payload, last_offset_delta, count)
