"""Invalid bytes become MalformedRequest or a message, in bounded time and memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator

import pytest

from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Message, decoder
from interfaces.kafka.wire.structs import Decoder
from tests.property.interfaces.kafka.wire.every_message import MESSAGES, VERSIONS, name_of
from tests.property.interfaces.kafka.wire.kio_codec import kio_bytes, kio_class, random_entity

MUTATIONS = 60
FRAME_BYTES = 1 << 13
BYTES_PER_BYTE = 80  # the smallest structs have three bytes, as objects about 150


def valid_bytes(message: type[Message], version: int, rng: random.Random) -> bytes:
    return kio_bytes(random_entity(kio_class(message, version), rng))


@pytest.mark.parametrize("message, version", VERSIONS, ids=name_of)
def test_a_message_cut_at_any_byte_is_malformed(message: type[Message], version: int) -> None:
    rng = random.Random(version)
    decode = decoder(message, version)
    encoded = min((valid_bytes(message, version, rng) for _ in range(5)), key=size_above_40)
    for end in cuts(len(encoded), rng):
        with pytest.raises(MalformedRequest):
            decode(memoryview(encoded)[:end], 0)


def size_above_40(encoded: bytes) -> tuple[bool, int]:
    return len(encoded) < 40, len(encoded)


def cuts(size: int, rng: random.Random) -> list[int]:
    """Every byte of short messages, some of long ones."""
    return list(range(size)) if size < 200 else sorted(rng.sample(range(size), 200))


@pytest.mark.parametrize("message, version", VERSIONS, ids=name_of)
def test_mutated_bytes_decode_or_are_malformed(message: type[Message], version: int) -> None:
    rng = random.Random(f"{message.__name__} {version}")
    decode = decoder(message, version)
    encoded = valid_bytes(message, version, rng)[:2000]
    for _ in range(MUTATIONS):
        mutated = mutate(encoded, rng)
        try:
            _, end = decode(mutated, 0)
        except MalformedRequest:
            continue
        assert end <= len(mutated)


def mutate(encoded: bytes, rng: random.Random) -> bytes:
    mutated = bytearray(encoded)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(mutated) + 1)
        match rng.randrange(4):
            case 0:
                mutated[at : at + 1] = rng.randbytes(1)
            case 1:
                mutated[at:at] = rng.randbytes(rng.randint(1, 4))
            case 2:
                del mutated[at : at + rng.randint(1, 4)]
            case 3:
                mutated[at : at + 4] = rng.choice((b"\x7f\xff\xff\xff", b"\xff" * 4, b"\x80" * 4))
    return bytes(mutated)


def hostile_frames() -> Iterator[bytes]:
    rng = random.Random(0)
    for byte in (0, 1, 2, 3, 0x7F, 0x80, 0xFF):
        yield bytes([byte]) * FRAME_BYTES
    yield b"\xff\xff\xff\xff\x07" * (FRAME_BYTES // 5)  # varints just below 2^31
    yield b"\x7f\xff\xff\xff" * (FRAME_BYTES // 4)
    yield b"\x00\x00\xff\x00" * (FRAME_BYTES // 4)
    yield rng.randbytes(FRAME_BYTES)
    yield bytes(rng.choices((0, 1, 2, 3), k=FRAME_BYTES))


@pytest.mark.parametrize("message", MESSAGES, ids=name_of)
def test_hostile_frames_cost_little_memory(message: type[Message]) -> None:
    edges = {message.min_version, message.max_version, message.flexible_from or 0}
    for version in edges & set(range(message.min_version, message.max_version + 1)):
        for frame in hostile_frames():
            memory = cost(decoder(message, version), frame)
            assert memory < BYTES_PER_BYTE * FRAME_BYTES


@pytest.mark.parametrize("message", MESSAGES, ids=name_of)
def test_a_frame_full_of_the_smallest_elements_costs_little(message: type[Message]) -> None:
    version = message.max_version
    for name, field in message.fields_.items():
        if field.kind != "array" or field.element.kind != "struct" or not field.is_in(version):
            continue
        smallest = field.element.element()
        size = len(b"".join(message(**{name: [smallest] * 100}).encode(version))) // 100
        full = message(**{name: [smallest] * (FRAME_BYTES // size)})
        frame = b"".join(full.encode(version))
        memory = cost(decoder(message, version), frame)
        assert memory < BYTES_PER_BYTE * len(frame)


def cost(decode: Decoder, frame: bytes) -> int:
    """Peak memory; the timeout of the test limits the time."""
    tracemalloc.start()
    decode_or_refuse(decode, frame)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def decode_or_refuse(decode: Decoder, frame: bytes) -> None:
    try:
        decode(frame, 0)
    except MalformedRequest:
        pass
