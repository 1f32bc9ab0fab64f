"""kio, an independent codec, to compare our bytes with.

kio has one dataclass per struct and version, with the wire type in each field's metadata. From
these come random instances and the walk that compares a kio entity with one of our structs. Only
bytes that kio wrote itself are ever given to it: on others it can abort the whole process.
"""

from __future__ import annotations

import datetime
import importlib
import io
import pkgutil
import random
import typing
from collections.abc import Iterator
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any
from uuid import UUID

from kio.schema.errors import ErrorCode
from kio.serial import entity_writer

from interfaces.kafka.wire.fields import Field
from interfaces.kafka.wire.schema import Message, Request
from interfaces.kafka.wire.structs import Struct

MILLISECOND = datetime.timedelta(milliseconds=1)
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
ERROR_CODES = list(ErrorCode)
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def kio_class(message: type[Message], version: int) -> Any:
    api = message.__module__.rpartition(".")[2]
    kind = "request" if issubclass(message, Request) else "response"
    module = importlib.import_module(f"kio.schema.{api}.v{version}.{kind}")
    return getattr(module, message.__name__)


def kio_versions(message: type[Message]) -> list[int]:
    package = importlib.import_module(f"kio.schema.{message.__module__.rpartition('.')[2]}")
    return sorted(int(module.name[1:]) for module in pkgutil.iter_modules(package.__path__))


def kio_bytes(entity: Any) -> bytes:
    buffer = io.BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


def shape(annotation: Any) -> tuple[Any, bool, bool]:
    """(inner type, is an array, may be null) of a kio annotation."""
    options = typing.get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    inner = next(option for option in options if option is not type(None))
    is_array = typing.get_origin(inner) is tuple
    return typing.get_args(inner)[0] if is_array else inner, is_array, len(options) > 1


def random_entity(cls: Any, rng: random.Random) -> Any:
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for field in fields(cls):
        tagged = "tag" in field.metadata
        if tagged and rng.random() < 0.4 and field.default is not MISSING:
            continue
        inner, is_array, nullable = shape(hints[field.name])
        kind = field.metadata.get("kafka_type")
        nullable = nullable and not (tagged and kind != "uuid")
        if kind == "uuid" and is_array:
            nullable = False
        if nullable and rng.random() < 0.25:
            values[field.name] = None
        elif is_array:
            count = rng.choice((0, 1, 1, 2, 3))
            values[field.name] = tuple(random_value(inner, kind, rng) for _ in range(count))
        else:
            values[field.name] = random_value(inner, kind, rng)
    return cls(**values)


def random_value(inner: Any, kind: str | None, rng: random.Random) -> Any:
    if kind is None:
        return random_entity(inner, rng)
    if kind in BITS:
        bits = rng.randrange(1, BITS[kind])
        return rng.randrange(-(1 << bits), 1 << bits)
    match kind:
        case "bool":
            return rng.random() < 0.5
        case "uint16":
            return rng.randrange(1 << 16)
        case "string":
            length = rng.choice((0, 1, 5, 20, 126, 127, 200))
            return "".join(rng.choice("abc-é漢🎈") for _ in range(length))
        case "bytes" | "records":
            return rng.randbytes(rng.choice((0, 1, 60, 126, 127, 5000)))
        case "uuid":
            return UUID(bytes=rng.randbytes(16))
        case "float64":
            return rng.uniform(-1e9, 1e9)
        case "error_code":
            return rng.choice(ERROR_CODES)
        case "timedelta_i32" | "timedelta_i64":
            return datetime.timedelta(milliseconds=rng.randrange(-1000, 1 << 31))
        case "datetime_i64":
            return EPOCH + datetime.timedelta(milliseconds=rng.randrange(1 << 41))
    raise AssertionError(f"a kio type that is new here: {kind}")


def plain(value: Any, kind: str | None) -> Any:
    """A kio primitive as a value of our structs."""
    if isinstance(value, tuple):
        return [plain(item, kind) for item in value]
    match kind:
        case "uuid":
            return bytes(16) if value is None else value.bytes
        case "error_code":
            return int(value)
        case "timedelta_i32" | "timedelta_i64":
            return round(value / MILLISECOND)
        case "datetime_i64":
            return (
                -1 if value is None else round((value - EPOCH) / datetime.timedelta(milliseconds=1))
            )
    return value


def pairs_of(ours: type[Struct], theirs: Any, version: int) -> Iterator[tuple[str, Field, Any]]:
    """The fields of this version: our name, our declaration, the field of kio."""
    declared = [(name, field) for name, field in ours.fields_.items() if field.is_in(version)]
    for (name, field), their_field in zip(declared, fields(theirs), strict=True):
        assert name.startswith(their_field.name), (name, their_field.name)
        assert field.tag == their_field.metadata.get("tag"), name
        yield name, field, their_field


def assert_same_declaration(ours: type[Struct], theirs: Any, version: int) -> None:
    hints = typing.get_type_hints(theirs)
    for name, field, their_field in pairs_of(ours, theirs, version):
        kind = their_field.metadata.get("kafka_type")
        inner, is_array, nullable = shape(hints[their_field.name])
        assert is_array == (field.kind == "array"), name
        if field.tag is None and kind not in ("uuid", "datetime_i64"):  # None is a number there
            assert nullable == field.is_nullable_in(version), name
        if kind is None:
            struct = field.element.element if is_array else field.element
            assert_same_declaration(struct, inner, version)
        elif their_field.default is not MISSING:
            assert plain(their_field.default, kind) == field.default, name


def assert_same(ours: Struct, theirs: Any, version: int) -> None:
    for name, _, their_field in pairs_of(type(ours), theirs, version):
        our_value, their_value = getattr(ours, name), getattr(theirs, their_field.name)
        kind = their_field.metadata.get("kafka_type")
        if kind is not None:
            assert our_value == plain(their_value, kind), name
        elif isinstance(their_value, tuple):
            for our_item, their_item in zip(our_value, their_value, strict=True):
                assert_same(our_item, their_item, version)
        elif our_value is None:
            # A tagged struct that has all its defaults is not sent; we say None to that.
            assert their_value is None or their_value == type(their_value)(), name
        else:
            assert_same(our_value, their_value, version)
