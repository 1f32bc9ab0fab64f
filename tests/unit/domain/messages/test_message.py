from __future__ import annotations

import time
import tracemalloc

import pytest
from aiokafka.record.default_records import DefaultRecordBatch
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRecord
from domain.messages.message import Message, decode_messages, decode_times, encode_messages
from tests.fakes.batches import TIMESTAMP, record_batch, records_section, varint

HEADER_BYTES = 61

fields = st.none() | st.binary(max_size=200)
header_lists = st.lists(st.tuples(st.text(max_size=8), fields), max_size=4)
rows = st.tuples(fields, fields, header_lists, st.integers(0, 2**42))


def section_of(*records: bytes) -> bytes:
    return b"".join(varint(len(record)) + record for record in records)


def decoded(payload: bytes, count: int) -> list[Message]:
    return list(decode_messages(payload, 0, TIMESTAMP, count))


@given(st.lists(rows, min_size=1, max_size=20), st.integers(0, 2**40))
def test_records_are_decoded_as_by_an_independent_client(
    records: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]], int]],
    base_offset: int,
) -> None:
    batch = record_batch(records, base_offset=base_offset)
    theirs = DefaultRecordBatch(batch)
    assert theirs.validate_crc()
    payload = memoryview(batch)[HEADER_BYTES:]
    messages = list(decode_messages(payload, base_offset, records[0][3], len(records)))
    assert messages == [
        Message(
            record.offset,
            record.timestamp,
            record.key,
            record.value,
            tuple((name.encode(), content) for name, content in record.headers),
        )
        for record in theirs
    ]
    assert encode_messages(messages, base_offset, records[0][3]) == payload
    times = decode_times(payload, base_offset, records[0][3], len(records))
    assert list(times) == [(message.offset, message.timestamp) for message in messages]


def test_log_append_time_is_the_timestamp_of_every_record() -> None:
    payload = records_section([(None, b"a", (), 5), (None, b"b", (), 9)], 5)
    times = [message.timestamp for message in decode_messages(payload, 7, 5, 2, 1000)]
    assert times == [1000, 1000]


def test_fields_are_copies_of_the_buffer() -> None:
    payload = bytearray(records_section([(b"key", b"value", [("h", b"1")], TIMESTAMP)], TIMESTAMP))
    [message] = decode_messages(memoryview(payload), 0, TIMESTAMP, 1)
    payload[:] = bytes(len(payload))
    assert message == Message(0, TIMESTAMP, b"key", b"value", ((b"h", b"1"),))


def test_offsets_can_have_gaps() -> None:
    payload = encode_messages([Message(3, 50, None, b"a"), Message(8, 60, b"k", None)], 3, 50)
    assert [message.offset for message in decode_messages(payload, 3, 50, 2)] == [3, 8]


def test_a_header_name_can_be_any_bytes() -> None:
    payload = records_section([(None, None, [(b"\xff\xfe", b"x")], TIMESTAMP)], TIMESTAMP)
    assert decoded(payload, 1)[0].headers == ((b"\xff\xfe", b"x"),)


@pytest.mark.parametrize("count", [0, 1, 3, 2**31 - 1, -1])
def test_a_wrong_record_count_is_refused(count: int) -> None:
    payload = records_section([(None, b"a", (), TIMESTAMP)] * 2, TIMESTAMP)
    with pytest.raises(InvalidRecord):
        decoded(payload, count)
    with pytest.raises(InvalidRecord):
        list(decode_times(payload, 0, TIMESTAMP, count))


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\0\0\0\1\1",
        b"\0\0\0" + varint(-1) + varint(5) + b"x" + varint(0),
        b"\0\0\0" + varint(2**31 - 1) + varint(-1) + varint(0),
        b"\0\0\0\1\1" + varint(-1),
        b"\0\0\0\1\1" + varint(2**31 - 1),
        b"\0\0\0\1\1" + varint(1) + varint(-1) + varint(-1),
        b"\0\0\0\1\1" + varint(1) + varint(3) + b"a" + varint(-1),
        b"\0\0\0\1\1\0" + b"more",
        b"\0" + b"\x80" * 20 + b"\0",
    ],
    ids=[
        "empty",
        "too short",
        "value beyond the end",
        "key of 2 GB",
        "negative header count",
        "endless headers",
        "header without a name",
        "header beyond the end",
        "bytes left over",
        "endless varint",
    ],
)
def test_a_malformed_record_is_refused(record: bytes) -> None:
    with pytest.raises(InvalidRecord):
        decoded(section_of(record), 1)


def test_a_truncated_record_is_refused() -> None:
    payload = records_section([(b"key", b"v" * 100, [("h", b"1")], TIMESTAMP)], TIMESTAMP)
    for end in range(len(payload)):
        with pytest.raises(InvalidRecord):
            decoded(payload[:end], 1)


@given(st.binary(max_size=200), st.integers(-5, 50))
def test_random_bytes_raise_invalid_record_only(payload: bytes, count: int) -> None:
    try:
        list(decode_messages(payload, 0, 0, count))
    except InvalidRecord:
        pass
    try:
        list(decode_times(payload, 0, 0, count))
    except InvalidRecord:
        pass


def test_huge_lengths_cost_neither_time_nor_memory() -> None:
    huge = varint(2**31 - 1)
    claims = [huge, section_of(b"\0\0\0\1\1" + huge + bytes(10)), b"\0\0\0" + huge + bytes(1000)]
    tracemalloc.start()
    started = time.perf_counter()
    for payload in claims:
        for count in (1, 100, 2**31 - 1):
            with pytest.raises(InvalidRecord):
                decoded(payload, count)
    assert time.perf_counter() - started < 1
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
