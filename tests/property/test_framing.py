"""Frames are the same for any chunks of their bytes."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from interfaces.connections.framing import READ_BUFFER_BYTES, Framing, ReadBuffer

BODIES = st.lists(st.binary(min_size=10, max_size=80), max_size=12)
CHUNKS = st.lists(st.integers(1, 40), min_size=1, max_size=20)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


class Receiver:
    def __init__(self, shared: ReadBuffer) -> None:
        self.framing = Framing(shared, 1 << 20, 0)
        self.frames: list[bytes] = []

    def receive(self, data: bytes, chunks: list[int]) -> None:
        """In chunks of these sizes, repeatedly, as far as the buffer has room."""
        turn = 0
        while data:
            room = self.framing.get_buffer()
            count = min(len(room), len(data), chunks[turn % len(chunks)])
            turn += 1
            room[:count] = data[:count]
            data = data[count:]
            self.frames += map(bytes, self.framing.received(count))
            if self.framing.illegal:
                return
            if self.framing.needs_bytes:
                self.framing.admit()


@given(BODIES, CHUNKS, st.integers(8, 128))
def test_any_chunks_give_the_frames_of_one_chunk(
    bodies: list[bytes], chunks: list[int], buffer_bytes: int
) -> None:
    receiver = Receiver(ReadBuffer(buffer_bytes))
    receiver.receive(b"".join(map(framed, bodies)), chunks)
    assert receiver.frames == bodies
    assert not receiver.framing.mid_frame


@given(BODIES, BODIES, CHUNKS, CHUNKS, st.integers(8, 128))
def test_connections_that_share_a_buffer_are_independent(
    first: list[bytes], second: list[bytes], a: list[int], b: list[int], buffer_bytes: int
) -> None:
    shared = ReadBuffer(buffer_bytes)
    receivers = [Receiver(shared), Receiver(shared)]
    left = [b"".join(map(framed, bodies)) for bodies in (first, second)]
    turn = 0
    while any(left):
        for which, sizes in ((0, a), (1, b)):
            size = sizes[turn % len(sizes)]
            receivers[which].receive(left[which][:size], [size])
            left[which] = left[which][size:]
        turn += 1
    assert [receiver.frames for receiver in receivers] == [first, second]


@given(st.integers(-3, 3), st.lists(st.integers(1, 100_000), min_size=1, max_size=5))
def test_frames_as_large_as_the_buffer_are_complete(more: int, chunks: list[int]) -> None:
    bodies = [
        b"x" * (READ_BUFFER_BYTES + more),
        b"a smallest",
        b"y" * (READ_BUFFER_BYTES - 4 + more),
    ]
    receiver = Receiver(ReadBuffer())
    receiver.receive(b"".join(map(framed, bodies)), [*chunks, 65_536])
    assert receiver.frames == bodies


@given(st.binary(max_size=300), CHUNKS)
def test_any_bytes_have_the_same_frames_in_any_chunks(data: bytes, chunks: list[int]) -> None:
    whole, cut = Receiver(ReadBuffer(1024)), Receiver(ReadBuffer(64))
    whole.receive(data, [1024])
    cut.receive(data, chunks)
    assert whole.frames == cut.frames
    assert whole.framing.illegal == cut.framing.illegal
