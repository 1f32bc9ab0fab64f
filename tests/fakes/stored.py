"""Decodes the committed log of a partition."""

from __future__ import annotations

from domain.messages.batch import RecordBatch
from domain.messages.message import Message, decode_messages
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.broker import FakeBroker


def batches_of(log: bytes) -> list[RecordBatch]:
    data, found = memoryview(log), []
    while data:
        found.append(RecordBatch(data[: RecordBatch(data).size_bytes]))
        data = data[found[-1].size_bytes :]
    return found


def stored_messages(fake: FakeBroker, name: str = "t", index: int = 0) -> list[Message]:
    messages: list[Message] = []
    for batch in batches_of(fake.stored(name, index)):
        opened = BatchCompression().decompress(batch.codec, batch.records, 1 << 20)
        messages += decode_messages(opened, batch.base_offset, batch.base_timestamp, batch.count)
    return messages
