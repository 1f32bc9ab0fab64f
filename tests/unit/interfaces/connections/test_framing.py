from __future__ import annotations

import struct

import pytest

from interfaces.connections.framing import READ_BUFFER_BYTES, Framing, ReadBuffer, is_large

MAX_FRAME_BYTES = 1 << 20
MIN_FRAME_BYTES = 10


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def new_framing(buffer: ReadBuffer | None = None) -> Framing:
    return Framing(buffer or ReadBuffer(), MAX_FRAME_BYTES, MIN_FRAME_BYTES)


def receive(framing: Framing, data: bytes) -> list[bytes]:
    """Copies of all frames that the bytes complete."""
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


def test_a_frame_is_a_view_of_the_shared_buffer() -> None:
    shared = ReadBuffer()
    framing = new_framing(shared)
    framing.get_buffer()[:14] = framed(b"0123456789")
    (frame,) = framing.received(14)
    assert frame.obj is shared.memory.obj
    assert bytes(frame) == b"0123456789"
    assert not framing.mid_frame


def test_the_rest_of_a_frame_is_received_into_its_own_memory() -> None:
    shared = ReadBuffer()
    framing = new_framing(shared)
    receive(framing, framed(b"x" * 1000)[:500])
    room = framing.get_buffer()
    assert (room.obj is shared.memory.obj, len(room)) == (False, 504)
    assert receive(framing, b"x" * 504) == [b"x" * 1000]


@pytest.mark.parametrize("sent", [4, 5, 1000, READ_BUFFER_BYTES])
def test_a_large_frame_waits_until_it_is_admitted(sent: int) -> None:
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
def test_a_frame_of_the_size_of_the_buffer_needs_no_admission(size: int) -> None:
    framing = new_framing()
    data = framed(b"x" * size)
    room = framing.get_buffer()
    count = min(len(room), len(data))
    room[:count] = data[:count]
    frames = framing.received(count)
    assert framing.needs_bytes == 0
    assert not any(map(is_large, frames))
    copies = [bytes(one) for one in frames] or receive(framing, data[count:])
    assert copies == [b"x" * size]


@pytest.mark.parametrize("size", [-(2**31), -1, 0, 9, MAX_FRAME_BYTES + 1, 2**31 - 1])
def test_nothing_is_read_behind_an_illegal_size(size: int) -> None:
    framing = new_framing()
    data = framed(b"a valid frame") + struct.pack(">i", size) + framed(b"a frame behind it")
    assert receive(framing, data) == [b"a valid frame"]
    assert framing.illegal is not None
    assert str(size) in framing.illegal


def test_the_largest_and_the_smallest_size_are_legal() -> None:
    framing = new_framing()
    assert receive(framing, framed(b"x" * MAX_FRAME_BYTES)) == [b"x" * MAX_FRAME_BYTES]
    assert receive(framing, framed(b"a smallest")) == [b"a smallest"]
