"""Messages, declared once for all versions.

    class TopicProduceData(Struct):
        name: str = string("0-12")
        topic_id: bytes = uuid("13+")

    class ProduceRequest(Request, key=0, versions="3-13", flexible="9+"):
        topic_data: list[TopicProduceData] = array(TopicProduceData)

Decoders and encoders are compiled at first use, as flat Python for one (message, version): plain
classes with compiled code measured fastest on the request path.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, Self

from interfaces.kafka.wire.fields import NO_LIMIT, parse_versions
from interfaces.kafka.wire.primitives import Buffer
from interfaces.kafka.wire.structs import Decoder, Encoder, Pieces, Struct


class Message(Struct):
    """The body of a request or response: a struct with API key and versions."""

    api_key: ClassVar[int]
    min_version: ClassVar[int]
    max_version: ClassVar[int]
    flexible_from: ClassVar[int | None]  # None: no version is flexible

    def __init_subclass__(
        cls, *, key: int = -1, versions: str = "0", flexible: str | None = None
    ) -> None:
        cls.api_key = key
        cls.min_version, cls.max_version = parse_versions(versions)
        cls.flexible_from = parse_versions(flexible)[0] if flexible is not None else None

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


@cache
def decoder(message: type[Message], version: int, max_elements: int | None = None) -> Decoder:
    """(buffer, position) -> (message, position after it).

    Records are views of `buffer`. Raises only MalformedRequest, also if all arrays together have
    more than `max_elements`.
    """
    from interfaces.kafka.wire.decoding import DecoderWriter

    check_version(message, version)
    writer = DecoderWriter(version, max_elements, flexible=message.is_flexible(version))
    return writer.write(message)


@cache
def encoder(message: type[Message], version: int) -> Encoder:
    """message -> pieces to send in order; large records are pieces of their own."""
    from interfaces.kafka.wire.encoding import EncoderWriter

    check_version(message, version)
    return EncoderWriter(version, flexible=message.is_flexible(version)).write(message)


def check_version(message: type[Message], version: int) -> None:
    if not message.min_version <= version <= message.max_version:
        raise ValueError(
            f"{message.__name__} has versions {message.min_version} to {message.max_version},"
            f" not {version}"
        )
