"""Messages declared once for all their versions.

    class TopicProduceData(Struct):
        name: str = string("0-12")
        topic_id: bytes = uuid("13+")

    class ProduceRequest(Request, key=0, versions="3-13", flexible="9+"):
        topic_data: list[TopicProduceData] = array(TopicProduceData)

The metaclass turns the fields into slots; that is all it does at import, because start-up time
is counted. Everything else is made at first use, as flat Python for exactly one class or one
(message, version): the constructor here, `decoder` and `encoder` in files of their own.
A plain class with compiled code on the side is what measured fastest: no descriptor, no
dataclass and no walk over field lists on the request path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeAlias, dataclass_transform

from interfaces.kafka.wire.fields import (
    NO_LIMIT,
    NOT_ASKED,
    Field,
    array,
    boolean,
    float64,
    int8,
    int16,
    int32,
    int64,
    nested,
    octets,
    parse_versions,
    record_data,
    string,
    uuid,
)
from interfaces.kafka.wire.primitives import Buffer

__all__ = [
    "NOT_ASKED",
    "Decoder",
    "Encoder",
    "Message",
    "Pieces",
    "Request",
    "Response",
    "Struct",
    "StructType",
    "array",
    "boolean",
    "decoder",
    "encoder",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "nested",
    "octets",
    "record_data",
    "string",
    "uuid",
]

Pieces: TypeAlias = "list[bytes | memoryview]"
Decoder: TypeAlias = "Callable[[Buffer, int], tuple[Any, int]]"
Encoder: TypeAlias = "Callable[[Any], Pieces]"


@dataclass_transform()
class StructType(type):
    """Moves the declared fields from the class body to `fields_`, and makes them slots."""

    fields_: dict[str, Field]

    def __new__(
        mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], **facts: Any
    ) -> StructType:
        fields = {key: value for key, value in body.items() if isinstance(value, Field)}
        for key in fields:
            del body[key]
        body["__slots__"] = tuple(fields)
        cls = super().__new__(mcs, name, bases, body, **facts)
        cls.fields_ = fields
        return cls


class Struct(metaclass=StructType):
    """A group of fields. Two are equal when they are of one class and all fields are."""

    def __init__(self, *in_order: Any, **values: Any) -> None:
        init = compile_constructor(type(self))
        type.__setattr__(type(self), "__init__", init)
        init(self, *in_order, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).fields_)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).fields_)
        return f"{type(self).__name__}({shown})"


class Message(Struct):
    """The body of a request or of a response: a struct that knows its key and versions."""

    api_key: ClassVar[int]
    min_version: ClassVar[int]
    max_version: ClassVar[int]
    flexible_from: ClassVar[int | None]  # None: no version is flexible
    decoders_: ClassVar[dict[tuple[int, int | None], Decoder]]
    encoders_: ClassVar[dict[int, Encoder]]

    def __init_subclass__(
        cls, *, key: int = -1, versions: str = "0", flexible: str | None = None
    ) -> None:
        cls.api_key = key
        cls.min_version, cls.max_version = parse_versions(versions)
        cls.flexible_from = parse_versions(flexible)[0] if flexible is not None else None
        cls.decoders_ = {}
        cls.encoders_ = {}

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        return version >= (NO_LIMIT if cls.flexible_from is None else cls.flexible_from)

    @classmethod
    def decode(cls, version: int, buffer: Buffer, pos: int = 0) -> tuple[Self, int]:
        """The message at `pos`, and the position after it (more bytes may follow)."""
        found: tuple[Self, int] = decoder(cls, version)(buffer, pos)
        return found

    def encode(self, version: int) -> Pieces:
        return encoder(type(self), version)(self)


class Request(Message):
    pass


class Response(Message):
    pass


def decoder(message: type[Message], version: int, max_elements: int | None = None) -> Decoder:
    """(buffer, position) -> (message, position after it); bytes end where the buffer ends.

    Records are views of `buffer`: they die with it. Raises MalformedRequest and nothing else; also
    where all arrays together have more than `max_elements`.
    """
    known = message.decoders_.get((version, max_elements))
    if known is None:
        from interfaces.kafka.wire.decoding import compile_decoder

        check_version(message, version)
        known = compile_decoder(message, version, max_elements)
        message.decoders_[version, max_elements] = known
    return known


def encoder(message: type[Message], version: int) -> Encoder:
    """message -> pieces to send in order; large records are pieces of their own, not copied."""
    known = message.encoders_.get(version)
    if known is None:
        from interfaces.kafka.wire.encoding import compile_encoder

        check_version(message, version)
        known = message.encoders_[version] = compile_encoder(message, version)
    return known


def check_version(message: type[Message], version: int) -> None:
    if not message.min_version <= version <= message.max_version:
        raise ValueError(
            f"{message.__name__} has versions {message.min_version} to {message.max_version},"
            f" not {version}"
        )


def compile_constructor(cls: StructType) -> Callable[..., None]:
    """`__init__` with all fields in order; lists and structs are made anew for each instance."""
    names: dict[str, Any] = {"unset": object()}
    parameters = []
    lines = []
    for index, (name, field) in enumerate(cls.fields_.items()):
        if isinstance(field.default, (list, StructType)):
            made = "[]" if field.default == [] else f"struct{index}()"
            names[f"struct{index}"] = field.default
            parameters.append(f"{name}=unset")
            lines.append(f" self.{name} = {made} if {name} is unset else {name}")
        else:
            names[f"default{index}"] = field.default
            parameters.append(f"{name}=default{index}")
            lines.append(f" self.{name} = {name}")
    # By keywords it is easier to read. Not by keywords it takes half the time, because CPython
    # makes a dict of those that a class is called with: for what is made for every partition.
    head = f"def __init__({', '.join(['self', *parameters])}):\n"
    exec(head + "\n".join(lines or [" pass"]), names)
    constructor: Callable[..., None] = names["__init__"]
    return constructor
