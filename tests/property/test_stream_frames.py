"""Batches of a stream, its frames and its positions, against slower ways to have them."""

from __future__ import annotations

import struct
from bisect import bisect_left
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from kio.records.readers import read_batch

from domain.errors import InvalidRecord
from domain.messages.batch import HEADER_BYTES
from domain.messages.building import build_batch
from domain.messages.message import Message, decode_messages
from domain.streams.batch import batch_of
from domain.streams.chunk import Chunk
from domain.streams.frames import frames_of, read_frames
from infrastructure.codecs.checksum import crc32c
from tests.fakes.batches import varint

TIMESTAMP, BASE = 1_700_000_000_000, 1000
#: As many as a run, and the groups of offset deltas, end at.
MANY = st.sampled_from([1, 15, 16, 17, 63, 64, 65, 129, 400])
NULLABLE = st.one_of(st.none(), st.binary(max_size=70))
HEADERS = st.sampled_from([(), (), (), ((b"h", b"value"), (b"", None)), ((b"name", b"x" * 70),)])
#: Key, value and headers of records alike, how many, and the gap of offsets before them.
ALIKE = st.tuples(NULLABLE, NULLABLE, HEADERS, MANY, st.sampled_from([0, 0, 0, 1, 5, 70, 9000]))
TIMES = st.sampled_from([0, 0, 1, -1, 64, 2**40, -(2**40)])
#: Positions in the payload, and what is added to the bytes there.
CHANGES = st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), min_size=1, max_size=4)
Alike = tuple[bytes | None, bytes | None, Any, int, int]


def messages_of(alike: list[Alike], step_ms: int) -> list[Message]:
    found: list[Message] = []
    offset, time = BASE, TIMESTAMP
    for key, value, headers, count, gap in alike:
        offset += gap
        for index in range(count):
            # A value of the same length, so that a mistaken place is noticed.
            mark = value and bytes([index % 251]) + value[1:]
            found.append(Message(offset, time, key, mark, headers))
            offset, time = offset + 1, max(time + step_ms, 0)
    return found


def encoded(messages: list[Message]) -> bytes:
    """Written here, not by our encoder."""
    return b"".join(map(record, messages))


def record(message: Message) -> bytes:
    body = b"\0" + varint(message.timestamp - TIMESTAMP) + varint(message.offset - BASE)
    body += field(message.key) + field(message.value) + varint(len(message.headers))
    for name, content in message.headers:
        body += field(name) + field(content)
    return varint(len(body)) + body


def field(content: bytes | None) -> bytes:
    return varint(-1) if content is None else varint(len(content)) + content


def framed(values: list[bytes | None]) -> bytes:
    return b"".join(struct.pack(">I", len(value or b"")) + (value or b"") for value in values)


def check_equal(payload: bytes, messages: list[Message]) -> None:
    last_delta = messages[-1].offset - BASE
    frames = read_frames(payload, BASE, last_delta, len(messages))
    assert list(frames.offsets) == [one.offset for one in messages]
    assert frames.sizes == [len(one.value or b"") for one in messages]
    assert b"".join(frames.pieces) == framed([one.value for one in messages])
    check_runs(frames, messages)


def check_runs(frames: Any, messages: list[Message]) -> None:
    runs = [(first + at, size) for first, sizes in frames.runs() for at, size in enumerate(sizes)]
    assert runs == [(one.offset, len(one.value or b"")) for one in messages]


# ---- frames


@given(st.lists(ALIKE, min_size=1, max_size=5), TIMES, st.floats(0, 1))
@example([(None, b"v" * 8, (), 9000, 0)], 0, 0.5)
@example([(None, b"v" * 8, (), 9000, 5)], 1, 0.5)
@example([(b"key", b"", (), 8500, 0), (None, None, (), 1, 0)], 0, 0.999)
@example([(b"key", b"value", (), 20, 5), (b"key", None, ((b"head", None),), 3, 0)], 0, 0)
def test_frames_are_the_values_of_the_records(
    alike: list[Alike], step_ms: int, share: float
) -> None:
    messages = messages_of(alike, step_ms)
    payload, count = encoded(messages), len(messages)
    last_delta = messages[-1].offset - BASE
    check_equal(payload, messages)
    decoded = list(decode_messages(payload, BASE, TIMESTAMP, count))
    assert decoded == messages, "the test's encoder is wrong"
    # Without those before an offset.
    offset = BASE + int((last_delta + 2) * share)
    frames = read_frames(payload, BASE, last_delta, count).since(offset)
    left = [one for one in messages if one.offset >= offset]
    assert (list(frames.offsets), frames.sizes) == (
        [one.offset for one in left],
        [len(one.value or b"") for one in left],
    )
    assert b"".join(frames.pieces) == framed([one.value for one in left])


@given(
    st.lists(ALIKE, min_size=1, max_size=3),
    CHANGES,
    st.sampled_from([0, 0, 0, 1, -1, 5, 2**31 - 1]),
    st.sampled_from([0, 0, 0, 1, -1, 3]),
    st.sampled_from([0, 0, 0, 1, 30]),
)
def test_damaged_records_are_refused_or_read_as_they_are(
    alike: list[Alike], changes: list[tuple[float, int]], deltas: int, more: int, cut: int
) -> None:
    """If they are records by the other decoder, too, both find the same values."""
    messages = messages_of(alike, 0)
    whole = bytearray(encoded(messages))
    for share, by in changes:
        at = int(share * (len(whole) - 1))
        whole[at] = (whole[at] + by) & 0xFF
    payload = bytes(whole[: len(whole) - cut])
    last_delta, count = messages[-1].offset - BASE + deltas, max(len(messages) + more, 0)
    check_damaged(payload, last_delta, count)


@given(st.binary(max_size=300), st.integers(0, 50), st.integers(-1, 2**31 - 1))
def test_any_bytes_are_refused_or_read_as_they_are(
    payload: bytes, count: int, last_delta: int
) -> None:
    check_damaged(payload, last_delta, count)


def check_damaged(payload: bytes, last_delta: int, count: int) -> None:
    try:
        frames = read_frames(payload, BASE, last_delta, count)
    except InvalidRecord:
        return
    offsets = list(frames.offsets)
    assert len(offsets) == len(frames.sizes) == count
    assert offsets == sorted(set(offsets))
    assert not offsets or BASE <= offsets[0] <= offsets[-1] <= BASE + last_delta
    data = b"".join(frames.pieces)
    values = list(read_back(data))
    assert list(map(len, values)) == frames.sizes
    # No byte is there twice.
    assert len(data) <= len(payload)
    try:
        messages = list(decode_messages(payload, BASE, TIMESTAMP, count))
    except InvalidRecord:
        return  # headers and timestamps are not looked at
    assert offsets == [one.offset for one in messages]
    assert values == [one.value or b"" for one in messages]


def read_back(data: bytes) -> Any:
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        at += 4 + size
        yield data[at - size : at]
    assert at == len(data)


# ---- batches


VALUES = st.one_of(
    st.lists(st.binary(max_size=100), min_size=1, max_size=100),
    st.tuples(st.integers(1, 400), st.integers(0, 200)).map(lambda n: [bytes(n[1])] * n[0]),
)


@given(VALUES, st.sampled_from([0, TIMESTAMP, 2**40]))
@example([b"v"] * 64, 0)
@example([b"v"] * 65 + [b"wider"] * 8200, 0)
@example([b"v" * 64] * 16384, 0)
@example([b""] * (1 << 16), TIMESTAMP)
def test_a_batch_has_the_bytes_of_the_general_encoder(values: list[bytes], timestamp: int) -> None:
    batch = bytes(batch_of(values, timestamp, crc32c))
    messages = [Message(0, timestamp, None, value) for value in values]
    assert batch == bytes(build_batch(messages, crc32c))
    frames = read_frames(batch[HEADER_BYTES:], 0, len(values) - 1, len(values))
    assert b"".join(frames.pieces) == frames_of(values) == framed(list(values))


@settings(max_examples=30)
@given(VALUES)
@example([b"v" * 10] * 8200)
@example([b"v" * 10, b"w"] * 8200)
def test_another_codec_reads_the_batch(values: list[bytes]) -> None:
    batch = read_batch(bytes(batch_of(values, TIMESTAMP, crc32c)), 0)[0]
    assert [one.value for one in batch.records] == values
    assert [one.offset for one in batch.records] == list(range(len(values)))
    time = datetime.fromtimestamp(TIMESTAMP / 1000, UTC)
    assert {(one.key, len(one.headers), one.timestamp) for one in batch.records} == {
        (None, 0, time)
    }
    assert (batch.base_timestamp, batch.max_timestamp) == (TIMESTAMP, TIMESTAMP)


# ---- positions


@given(
    st.integers(0, 2**40),
    st.one_of(
        st.lists(st.sampled_from([0, 1, 5, 300]), min_size=1, max_size=50),
        st.tuples(st.integers(1, 50), st.sampled_from([0, 7])).map(lambda n: [n[1]] * n[0]),
    ),
)
def test_positions_are_the_bytes_of_the_frames_before(start: int, sizes: list[int]) -> None:
    chunk = Chunk(start, BASE, sizes)
    frames = [frames_of([bytes(size)]) for size in sizes]
    ends = list(accumulate(map(len, frames), initial=start))
    assert list(chunk.positions()) == ends[:-1]
    assert (chunk.end, chunk.next_offset) == (ends[-1], BASE + len(sizes))
    assert chunk.is_uniform == (len(set(sizes)) == 1)
    for position in range(max(start - 3, 0), min(ends[-1], start + 400) + 3):
        index = bisect_left(ends, position)
        begins = position in ends[:-1]
        assert chunk.offset_at(position) == (BASE + index if begins else None)
