"""What the records of Kafka's internal topics have in common: their partition, and texts."""

from __future__ import annotations

from struct import Struct, unpack
from struct import error as StructError
from typing import Any

from domain.errors import InvalidRecord

#: Key and value.
Record = tuple[bytes, bytes | None]

_MAX_STRING_BYTES = (1 << 15) - 1
_NULL_STRING = b"\xff\xff"
_INT16 = Struct(">h")


class TooLong(Exception):
    """A text of more than 32767 bytes, which no record of Kafka's has."""


def partition_of(name: str, partitions: int) -> int:
    """As Kafka: by Java's hash code of the group id or transactional id."""
    return hash_of(name) % partitions


def hash_of(name: str) -> int:
    """Without its sign."""
    code = 0
    encoded = name.encode("utf-16-be")
    for unit in unpack(f">{len(encoded) // 2}H", encoded):
        code = (31 * code + unit) & 0xFFFFFFFF
    if code == 1 << 31:  # its negation is no Java int
        return 0
    return code if code < 1 << 31 else (1 << 32) - code


def string(text: str | None) -> bytes:
    if text is None:
        return _NULL_STRING
    encoded = text.encode()
    if len(encoded) > _MAX_STRING_BYTES:
        raise TooLong(text[:100])
    return _INT16.pack(len(encoded)) + encoded


class Fields:
    """Reads the fields of a key or value. Raises InvalidRecord if they are no such ones."""

    __slots__ = ("_data", "_flexible", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        #: Texts and lengths have varints then.
        self._flexible = False

    def version(self, first: int, last: int, flexible: int = 1 << 15) -> int:
        """The first field of all."""
        version: int = self.take("h")
        if not first <= version <= last:
            raise InvalidRecord(f"version {version} is not known")
        self._flexible = version >= flexible
        return version

    def take(self, code: str) -> Any:
        """A number, by the code of `struct`."""
        found = Struct(">" + code)
        try:
            (value,) = found.unpack_from(self._data, self._position)
        except StructError:
            raise InvalidRecord("it ends within a field") from None
        self._position += found.size
        return value

    def length(self, code: str = "i") -> int:
        """Of an array or text; -1 is null."""
        if self._flexible:
            return self._varuint() - 1
        value: int = self.take(code)
        return value

    def raw(self, size_bytes: int) -> bytes:
        end = self._position + size_bytes
        if size_bytes < 0 or end > len(self._data):
            raise InvalidRecord("it ends within a field")
        found = self._data[self._position : end]
        self._position = end
        return found

    def text(self) -> str | None:
        length = self.length("h")
        try:
            return None if length < 0 else self.raw(length).decode()
        except UnicodeDecodeError:
            raise InvalidRecord("a text is not UTF-8") from None

    def words(self) -> str:
        """A text that is not null."""
        found = self.text()
        if found is None:
            raise InvalidRecord("a text is null")
        return found

    def tagged(self) -> dict[int, bytes]:
        """Tagged fields, in a flexible version only."""
        if not self._flexible:
            return {}
        return {self._varuint(): self.raw(self._varuint()) for _ in range(self._varuint())}

    def _varuint(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte: int = self.take("B")
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise InvalidRecord("a varint is too long")

    def end(self) -> None:
        if self._position != len(self._data):
            raise InvalidRecord(f"{len(self._data) - self._position} bytes follow the last field")
