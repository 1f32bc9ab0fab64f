from __future__ import annotations

import struct

import pytest

from interfaces.kafka.connections.connection import READ_BUFFER_BYTES, Framing, ReadBuffer, is_large

MAX_FRAME_BYTES = 1 << 20


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def new_framing(buffer: ReadBuffer | None = None) -> Framing:
    return Framing(buffer or ReadBuffer(), MAX_FRAME_BYTES)


def receive(framing: Framing, data: bytes) -> list[bytes]:
    """All frames that the bytes complete, copied."""
    frames = []
    while data:
        room = framing.get_buffer()
        count = min(len(room), len(data))
        room[:count] = data[:count]
        data = data[count:]
        frames += map(bytes, framing.received(count))
        if framing.illegal:
            break
        if framing.needs_bytes:
            framing.admit()
    return frames


def test_a_frame_is_handed_out_as_a_view_of_the_shared_buffer() -> None:
    shared = ReadBuffer()
    framing = new_framing(shared)
    framing.get_buffer()[:14] = framed(b"0123456789")
    (frame,) = framing.received(14)
    assert frame.obj is shared.memory.obj
    assert bytes(frame) == b"0123456789"
    assert not framing.mid_frame


def test_the_buffer_holds_nothing_of_a_connection_between_two_reads() -> None:
    shared = ReadBuffer()
    first, second = new_framing(shared), new_framing(shared)
    a, b = framed(b"a" * 50), framed(b"b" * 50)
    for cut in range(1, len(a)):
        got = [receive(first, a[:cut]), receive(second, b[:cut])]
        assert got == [[], []]
        got = [receive(first, a[cut:]), receive(second, b[cut:])]
        assert got == [[b"a" * 50], [b"b" * 50]]


def test_the_rest_of_a_frame_is_received_right_into_it() -> None:
    shared = ReadBuffer()
    framing = new_framing(shared)
    receive(framing, framed(b"x" * 1000)[:500])
    room = framing.get_buffer()
    assert (room.obj is shared.memory.obj, len(room)) == (False, 504)
    assert receive(framing, b"x" * 504) == [b"x" * 1000]


@pytest.mark.parametrize("sent", [4, 5, 1000, READ_BUFFER_BYTES])
def test_a_large_frame_waits_to_be_admitted(sent: int) -> None:
    framing = new_framing()
    data = framed(b"x" * (READ_BUFFER_BYTES + 1))
    framing.get_buffer()[:sent] = data[:sent]
    assert framing.received(sent) == []
    assert framing.needs_bytes == READ_BUFFER_BYTES + 1
    assert framing.held_bytes == 0
    framing.admit()
    assert (framing.needs_bytes, framing.held_bytes) == (0, READ_BUFFER_BYTES + 1)
    assert framing.mid_frame
    assert receive(framing, data[sent:]) == [b"x" * (READ_BUFFER_BYTES + 1)]
    assert (framing.held_bytes, framing.mid_frame) == (0, False)


@pytest.mark.parametrize("size", [READ_BUFFER_BYTES - 4, READ_BUFFER_BYTES - 3, READ_BUFFER_BYTES])
def test_a_frame_about_as_large_as_the_buffer_needs_no_admission(size: int) -> None:
    framing = new_framing()
    data = framed(b"x" * size)
    room = framing.get_buffer()
    count = min(len(room), len(data))
    room[:count] = data[:count]
    frames = framing.received(count)
    assert framing.needs_bytes == 0
    if not frames:
        (copy,) = receive(framing, data[count:])
        assert len(copy) == size
    else:
        assert not is_large(frames[0])


@pytest.mark.parametrize("size", [-(2**31), -1, 0, 9, MAX_FRAME_BYTES + 1, 2**31 - 1])
def test_a_size_that_cannot_be_is_illegal_and_ends_it(size: int) -> None:
    framing = new_framing()
    data = framed(b"a frame of its own") + struct.pack(">i", size) + framed(b"never looked at")
    assert receive(framing, data) == [b"a frame of its own"]
    assert framing.illegal is not None
    assert f"request size {size} is not between 10 and" in framing.illegal


def test_the_largest_size_that_is_allowed_is_accepted() -> None:
    framing = new_framing()
    assert receive(framing, framed(b"x" * MAX_FRAME_BYTES)) == [b"x" * MAX_FRAME_BYTES]
    assert receive(framing, framed(b"a smallest")) == [b"a smallest"]
