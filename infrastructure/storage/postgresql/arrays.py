"""Arrays as parameters, in PostgreSQL's binary form: psycopg would adapt each element by itself."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct, pack

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

_BIGINT, _BYTEA, _TEXT = 20, 17, 25
_BIGINT_ARRAY, _BYTEA_ARRAY, _TEXT_ARRAY = 1016, 1001, 1009
#: Dimensions, no nulls, type of an element, length, index of the first element.
_HEADER = Struct(">iiIii")
_LENGTH = Struct(">i")


class Array:
    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class BigintArray(Array):
    __slots__ = ()


class ByteaArray(Array):
    __slots__ = ()


class TextArray(Array):
    __slots__ = ()


def bigints(values: Sequence[int]) -> BigintArray:
    lengths_and_values = [0] * (2 * len(values))
    lengths_and_values[::2] = [8] * len(values)
    lengths_and_values[1::2] = values
    elements = pack(">" + "iq" * len(values), *lengths_and_values)
    return BigintArray(_HEADER.pack(1, 0, _BIGINT, len(values), 1) + elements)


def byteas(values: Sequence[bytes]) -> ByteaArray:
    return ByteaArray(_of_bytes(_BYTEA, values))


def texts(values: Sequence[str]) -> TextArray:
    return TextArray(_of_bytes(_TEXT, [value.encode() for value in values]))


def _of_bytes(type_: int, values: Sequence[bytes]) -> bytes:
    pieces = [_HEADER.pack(1, 0, type_, len(values), 1)]
    for value in values:
        pieces += (_LENGTH.pack(len(value)), value)
    return b"".join(pieces)


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Array) -> Buffer:
        return obj.data


class _BigintArrayDumper(_ArrayDumper):
    oid = _BIGINT_ARRAY


class _ByteaArrayDumper(_ArrayDumper):
    oid = _BYTEA_ARRAY


class _TextArrayDumper(_ArrayDumper):
    oid = _TEXT_ARRAY


def take_arrays(connection: Connection[tuple[object, ...]]) -> None:
    for kind, dumper in (
        (BigintArray, _BigintArrayDumper),
        (ByteaArray, _ByteaArrayDumper),
        (TextArray, _TextArrayDumper),
    ):
        connection.adapters.register_dumper(kind, dumper)
