"""Mutations of valid requests; each returns bytes with the length prefix."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any

from crc32c import crc32c

from interfaces.kafka.wire.fields import FIXED_SIZES, Field
from interfaces.kafka.wire.schema import Request
from interfaces.kafka.wire.structs import Struct
from tests.fuzz.corpus import PREFIX, TOPICS, Valid

Mutation = Callable[[Valid, Random], bytes]

EDGES = (0, 1, -1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, -0x8000, 0xFFFF, 2**31 - 1, -(2**31), 2**63 - 1)
LONG_VARINTS = (
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\xff\xff",
    b"\x80\x80\x80\x80\x00",
    b"\x80",
)
#: The fields of a batch header: offset and format.
BATCH_FIELDS = (
    (0, "q"), (8, "i"), (12, "i"), (16, "b"), (17, "I"), (21, "h"), (23, "i"), (27, "q"), (35, "q"),
    (43, "q"), (51, "h"), (53, "i"), (57, "i"),
)  # fmt: skip
CHECKSUM, COVERED, RECORDS = 17, 21, 61
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def framed(data: bytes) -> bytes:
    return PREFIX.pack(len(data)) + data


# ---- the frame


def wrong_length(valid: Valid, rng: Random) -> bytes:
    size = len(valid.data)
    length = rng.choice((0, 9, -1, size - 1, size + 1, size + 200, 2**31 - 1, -(2**31), size // 2))
    return PREFIX.pack(length) + valid.data


def cut(valid: Valid, rng: Random) -> bytes:
    return framed(valid.data[: rng.randrange(len(valid.data))])


def extended(valid: Valid, rng: Random) -> bytes:
    return framed(valid.data + rng.randbytes(rng.randint(1, 40)))


def noise(valid: Valid, rng: Random) -> bytes:
    return rng.choice((
        rng.randbytes(rng.randint(1, 60)),
        framed(rng.randbytes(rng.randint(10, 200))),
        b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(60),
    ))  # fmt: skip


# ---- the header


def header(valid: Valid, rng: Random) -> bytes:
    data = bytearray(valid.data)
    match rng.randrange(5):
        case 0:
            data[0:2] = struct.pack(">h", rng.choice((rng.randrange(90), -1, 999, 32767)))
        case 1:
            data[2:4] = struct.pack(">h", rng.choice((rng.randrange(20), -1, 32767)))
        case 2:
            data[8:10] = struct.pack(">h", rng.choice((-1, -2, 0, 1, 32767, rng.randrange(300))))
        case 3:
            data[10:10] = rng.randbytes(rng.randint(1, 300))
        case 4:
            tags = bytes((rng.randrange(256),)) + rng.randbytes(rng.randrange(12))
            data[valid.body - 1 : valid.body] = tags
    return framed(bytes(data))


# ---- any bytes


def flipped(valid: Valid, rng: Random) -> bytes:
    data = bytearray(valid.data)
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(min(8, len(data) - 1), len(data))] = rng.randrange(256)
    return framed(bytes(data))


def edged(valid: Valid, rng: Random) -> bytes:
    """Writes an extreme number or length at a random place."""
    data = bytearray(valid.data)
    at = rng.randrange(min(valid.body, len(data) - 1), len(data))
    if rng.random() < 0.3:
        data[at : at + 1] = rng.choice(LONG_VARINTS)
    else:
        code = rng.choice("bhiq")
        value = rng.choice(EDGES) & (1 << 8 * struct.calcsize(code)) - 1
        data[at : at + struct.calcsize(code)] = struct.pack(f">{code.upper()}", value)
    return framed(bytes(data))


def spliced(valid: Valid, rng: Random) -> bytes:
    """Doubles, removes or moves a piece."""
    data = valid.data
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    to = rng.randrange(min(valid.body, len(data)), len(data) + 1)
    piece = data[start:end]
    return framed(rng.choice((data[:to] + piece + data[to:], data[:start] + data[end:])))


# ---- field values


def revalued(valid: Valid, rng: Random) -> bytes:
    """Decodes, changes and encodes it: passes every length check."""
    request = valid.decoded()
    for _ in range(rng.randint(1, 3)):
        _change(request, rng)
    return _encoded(valid, request)


def swollen(valid: Valid, rng: Random) -> bytes:
    """Repeats the elements of an array many times."""
    request = valid.decoded()
    arrays = [
        (owner, name)
        for owner, name, field in _places(request)
        if field.kind == "array" and getattr(owner, name)
    ]
    if not arrays:
        return flipped(valid, rng)
    owner, name = rng.choice(arrays)
    setattr(owner, name, getattr(owner, name) * rng.choice((2, 40, 300)))
    return _encoded(valid, request)


def _encoded(valid: Valid, request: Request) -> bytes:
    try:
        body = b"".join(request.encode(valid.version))
    except (ValueError, struct.error, OverflowError, TypeError, AttributeError):
        return framed(valid.data)
    return framed(valid.data[: valid.body] + body)


def _places(struct_: Struct) -> list[tuple[Struct, str, Field]]:
    found: list[tuple[Struct, str, Field]] = []
    for name, field in type(struct_).fields_.items():
        found.append((struct_, name, field))
        value = getattr(struct_, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Struct):
                found += _places(one)
    return found


def _change(request: Request, rng: Random) -> None:
    owner, name, field = rng.choice(_places(request))
    setattr(owner, name, _other(getattr(owner, name), field, rng))


def _other(value: Any, field: Field, rng: Random) -> Any:
    if field.kind in BITS:
        bits = BITS[field.kind]
        chosen = rng.choice((*EDGES, rng.randrange(20), value + 1, value - 1))
        return (chosen + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    match field.kind:
        case "bool":
            return not value
        case "string":
            return rng.choice(
                (*TOPICS, "", None, "a/b", "." * 300, "é🎈", "x" * 249, f"n{rng.randrange(9)}")
            )
        case "uuid":
            return rng.choice((bytes(16), b"\7" * 16, rng.randbytes(16)))
        case "array":
            return rng.choice(([], None, (value or []) * 2, (value or [])[1:]))
        case "bytes" | "record_data" | "octets":
            return rng.choice(
                (None, b"", rng.randbytes(rng.randrange(200)), bytes(value or b"") * 2)
            )
    assert field.kind == "struct" or field.kind in FIXED_SIZES, field.kind
    return None if field.kind == "struct" else value


# ---- record batches


def rebatched(valid: Valid, rng: Random) -> bytes:
    """Changes a field of a batch header or its records, mostly with a valid checksum."""
    request = valid.decoded()
    places = [one for one in _places(request) if one[2].kind == "record_data"]
    if not places:
        return revalued(valid, rng)
    owner, name, _ = rng.choice(places)
    batch = bytearray(getattr(owner, name) or b"")
    if len(batch) <= RECORDS:
        return revalued(valid, rng)
    setattr(owner, name, bytes(_mutated_batch(batch, rng)))
    return _encoded(valid, request)


def _mutated_batch(batch: bytearray, rng: Random) -> bytearray:
    for _ in range(rng.randint(1, 2)):
        match rng.randrange(6):
            case 0 | 1:
                at, code = rng.choice(BATCH_FIELDS)
                size = struct.calcsize(code)
                old = int.from_bytes(batch[at : at + size], "big")
                value = rng.choice((*EDGES, old + 1, old - 1, rng.randrange(16)))
                batch[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "big")
            case 2:  # the codec does not match the bytes
                batch[22] = batch[22] & ~7 | rng.randrange(8)
            case 3:
                batch[rng.randrange(RECORDS, len(batch))] = rng.randrange(256)
            case 4:
                at = rng.randrange(RECORDS, len(batch))
                batch[at : at + 1] = rng.choice(LONG_VARINTS)
            case 5:
                del batch[rng.randrange(RECORDS, len(batch)) :]
        if len(batch) <= RECORDS:
            break
    if rng.random() < 0.5:
        batch[8:12] = struct.pack(">i", len(batch) - 12)
    if rng.random() < 0.8:
        batch[CHECKSUM:COVERED] = struct.pack(">I", crc32c(bytes(batch[COVERED:])))
    if rng.random() < 0.1:
        batch *= 2
    return batch


MUTATIONS: tuple[tuple[Mutation, int], ...] = (
    (wrong_length, 3),
    (cut, 5),
    (extended, 5),
    (noise, 2),
    (header, 8),
    (flipped, 15),
    (edged, 15),
    (spliced, 10),
    (revalued, 17),
    (swollen, 3),
    (rebatched, 17),
)


def mutated(valid: Valid, rng: Random) -> bytes:
    [mutation] = rng.choices([m for m, _ in MUTATIONS], [weight for _, weight in MUTATIONS])
    return mutation(valid, rng)
