"""Small messages with all kinds of fields."""

from __future__ import annotations

from interfaces.kafka.wire.fields import (
    array,
    boolean,
    float64,
    int8,
    int16,
    int32,
    int64,
    nested,
    octets,
    record_data,
    string,
    uuid,
)
from interfaces.kafka.wire.primitives import Buffer
from interfaces.kafka.wire.schema import Request
from interfaces.kafka.wire.structs import Struct


class Numbers(Request, versions="0"):
    a: bool = boolean()
    b: int = int8()
    c: int = int16()
    d: int = int32()
    e: int = int64(default=-1)
    f: float = float64()
    g: bytes = uuid()


class Texts(Request, versions="0-1", flexible="1+"):
    """Version 0 has lengths of fixed size, version 1 varints and tagged fields."""

    name: str = string()
    note: str | None = string(nullable="0+", default=None)
    blob: bytes = octets()
    records: Buffer | None = record_data(nullable="0+")


class Point(Struct):
    x: int = int8()
    y: int = int8("1+", default=7)


class Arrays(Request, versions="0-1", flexible="1+"):
    numbers: list[int] = array(int16)
    maybe: list[int] | None = array(int32, nullable="0+")
    names: list[str] = array(string)
    points: list[Point] = array(Point)


class Nested(Request, versions="0-1", flexible="1+"):
    here: Point = nested(Point)
    maybe: Point | None = nested(Point, nullable="0+")


class Tagged(Request, versions="0-1", flexible="0+"):
    before: int = int8()
    small: int = int16(tag=0)
    point: Point | None = nested(Point, tag=1)
    names: list[str] = array(string, "1+", tag=2)
    after: int = int8()


class Evolving(Request, versions="0-4"):
    always: int = int8()
    added: int = int8("2+", default=5)
    hinted: int = int8("3+", default=6, ignorable=True)
    removed: str | None = string("0-1", nullable="1")
    listed: list[int] = array(int8, "4+")


def encoded(message: Request, version: int) -> bytes:
    return b"".join(message.encode(version))


def both_ways(message: Request, version: int, wire: bytes) -> None:
    assert encoded(message, version) == wire
    assert type(message).decode(version, b"?" + wire + b"?", 1) == (message, 1 + len(wire))
