"""Messages declared once for all their versions.

    class TopicProduceData(Struct):
        name: str = string("0-12")
        topic_id: bytes = uuid("13+")

    class ProduceRequest(Request, key=0, versions="3-13", flexible="9+"):
        topic_data: list[TopicProduceData] = array(TopicProduceData)

Decoders and encoders are compiled at first use, as flat Python for exactly one (message, version):
a plain class with compiled code on the side is what measured fastest on the request path.
"""

from __future__ import annotations

from typing import ClassVar, Self

from interfaces.kafka.wire.fields import NO_LIMIT, parse_versions
from interfaces.kafka.wire.primitives import Buffer
from interfaces.kafka.wire.structs import Decoder, Encoder, Pieces, Struct


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
        known = compile_decoder(
            message, version, max_elements, flexible=message.is_flexible(version)
        )
        message.decoders_[version, max_elements] = known
    return known


def encoder(message: type[Message], version: int) -> Encoder:
    """message -> pieces to send in order; large records are pieces of their own, not copied."""
    known = message.encoders_.get(version)
    if known is None:
        from interfaces.kafka.wire.encoding import compile_encoder

        check_version(message, version)
        known = message.encoders_[version] = compile_encoder(
            message, version, flexible=message.is_flexible(version)
        )
    return known


def check_version(message: type[Message], version: int) -> None:
    if not message.min_version <= version <= message.max_version:
        raise ValueError(
            f"{message.__name__} has versions {message.min_version} to {message.max_version},"
            f" not {version}"
        )
