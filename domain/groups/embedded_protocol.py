"""The consumer protocol that is embedded in JoinGroup and SyncGroup (ConsumerProtocol in Kafka).

    subscription   version, topics, user data; 1: owned partitions; 2: generation; 3: rack
    assignment     version, partitions, user data

The broker reads them to convert groups and to show assignments. An unknown newer version is read as
the newest known one: new fields are at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

#: The protocol type of consumers.
CONSUMER = "consumer"
NEWEST = 3
_SHORT = Struct(">h")
_INT = Struct(">i")

#: Partitions by topic name.
NamedPartitions = Mapping[str, Sequence[int]]


class Unreadable(Exception):
    """These bytes are not in the format of protocol type `consumer`."""


class EmbeddedSubscription(NamedTuple):
    version: int
    topics: frozenset[str]
    owned: NamedPartitions
    rack_id: str | None


class EmbeddedAssignment(NamedTuple):
    partitions: NamedPartitions
    #: Custom assignors of clients use it.
    has_user_data: bool


def read_subscription(message: bytes) -> EmbeddedSubscription:
    reader = _Reader(message)
    version = reader.version()
    topics = reader.topics()
    reader.skip_bytes()
    owned = reader.partitions() if version >= 1 else {}
    if version >= 2:
        reader.number()
    rack_id = reader.string_or_null() if version >= 3 else None
    return EmbeddedSubscription(version, topics, owned, rack_id)


def subscribed_topics(message: bytes) -> frozenset[str] | None:
    """The topics of a subscription; None if it is malformed."""
    reader = _Reader(message)
    try:
        reader.version()
        return reader.topics()
    except Unreadable:
        return None


def read_assignment(message: bytes) -> EmbeddedAssignment:
    """Empty bytes: nothing is assigned."""
    if not message:
        return EmbeddedAssignment({}, False)
    reader = _Reader(message)
    reader.version()
    return EmbeddedAssignment(reader.partitions(), reader.skip_bytes() > 0)


def write_assignment(version: int, partitions: NamedPartitions) -> bytes:
    pieces = [_SHORT.pack(min(version, NEWEST)), _INT.pack(len(partitions))]
    for name in sorted(partitions):
        encoded = name.encode()
        ones = sorted(partitions[name])
        pieces += [_SHORT.pack(len(encoded)), encoded, _INT.pack(len(ones))]
        pieces += map(_INT.pack, ones)
    pieces.append(_INT.pack(-1))
    return b"".join(pieces)


class _Reader:
    __slots__ = ("_message", "_position")

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._position = 0

    def version(self) -> int:
        version = self._unpack(_SHORT)
        if version < 0:
            raise Unreadable(f"version {version}")
        return min(version, NEWEST)

    def number(self) -> int:
        return self._unpack(_INT)

    def count(self, min_bytes: int) -> int:
        """Number of elements with a minimum size: refuses a count that exceeds the bytes."""
        count = self.number()
        if not 0 <= count <= (len(self._message) - self._position) // min_bytes:
            raise Unreadable(f"{count} elements")
        return count

    def topics(self) -> frozenset[str]:
        return frozenset(self.string() for _ in range(self.count(_SHORT.size)))

    def string_or_null(self) -> str | None:
        length = self._unpack(_SHORT)
        return None if length == -1 else self._text(length)

    def string(self) -> str:
        return self._text(self._unpack(_SHORT))

    def skip_bytes(self) -> int:
        """Returns their number."""
        length = self.number()
        if length == -1:
            return 0
        self._take(length)
        return length

    def partitions(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for _ in range(self.count(_SHORT.size + _INT.size)):
            name = self.string()
            ones = [self.number() for _ in range(self.count(_INT.size))]
            found.setdefault(name, []).extend(ones)
        return found

    def _text(self, length: int) -> str:
        try:
            return self._take(length).decode()
        except UnicodeDecodeError as damage:
            raise Unreadable(str(damage)) from damage

    def _take(self, length: int) -> bytes:
        end = self._position + length
        if length < 0 or end > len(self._message):
            raise Unreadable(f"{length} bytes")
        taken = self._message[self._position : end]
        self._position = end
        return taken

    def _unpack(self, number: Struct) -> int:
        try:
            (value,) = number.unpack_from(self._message, self._position)
        except StructError as damage:
            raise Unreadable(str(damage)) from damage
        self._position += number.size
        return int(value)
