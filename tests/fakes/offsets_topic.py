"""The records of __consumer_offsets in a broker of this process, decoded without our encoder."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from application.records.scan import batches_in
from domain.messages.message import decode_messages
from domain.topics.topic import OFFSETS_TOPIC
from tests.fakes.broker import FakeBroker

OFFSET_KEY, GROUP_KEY = 1, 2


class Committed(NamedTuple):
    """None: a tombstone."""

    group_id: str
    topic: str
    partition: int
    offset: int | None


class Generation(NamedTuple):
    """None: a tombstone."""

    group_id: str
    generation_id: int | None
    members: int = 0


def records_of(fake: FakeBroker) -> list[Committed | Generation]:
    return [decoded(key, value) for key, value in keyed_records(fake, OFFSETS_TOPIC)]


def keyed_records(fake: FakeBroker, topic: str) -> Iterator[tuple[bytes, bytes | None]]:
    """Keys and values of all partitions; those of a key are in order."""
    for index in range(len(fake.existing(topic).partition_ids)):
        for batch in batches_in(fake.stored(topic, index)):
            payload = batch.buffer[61 : batch.size_bytes]
            for one in decode_messages(payload, batch.base_offset, 0, batch.count):
                assert one.key is not None
                yield one.key, one.value


def decoded(key: bytes, value: bytes | None) -> Committed | Generation:
    (version,) = struct.unpack_from(">h", key)
    group_id, rest = _string(key[2:])
    if version == OFFSET_KEY:
        topic, rest = _string(rest)
        (partition,) = struct.unpack(">i", rest)
        offset = None if value is None else struct.unpack_from(">hq", value)[1]
        return Committed(group_id, topic, partition, offset)
    assert (version, rest) == (GROUP_KEY, b"")
    if value is None:
        return Generation(group_id, None)
    assert value[:2] == b"\0\3"
    _, rest = _string(value[2:])
    (generation_id,) = struct.unpack_from(">i", rest)
    _, rest = _string(rest[4:])
    _, rest = _string(rest)
    _, members = struct.unpack_from(">qi", rest)
    return Generation(group_id, generation_id, members)


def _string(data: bytes) -> tuple[str, bytes]:
    (size,) = struct.unpack_from(">h", data)
    end = 2 + max(size, 0)
    return data[2:end].decode(), data[end:]
