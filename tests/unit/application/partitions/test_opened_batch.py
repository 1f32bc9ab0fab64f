from __future__ import annotations

import pytest

from application.partitions.opened_batch import MAX_OPENED_RECORDS, open_messages, open_times
from domain.errors import CorruptMessage, InvalidRecord
from domain.messages.batch import RecordBatch
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, TIMESTAMP, ZSTD, record_batch

RECORDS = [(b"k", b"v", [("h", b"1")], TIMESTAMP), (None, None, [], TIMESTAMP + 4)]


def opened(data: bytearray) -> list[tuple[object, ...]]:
    messages = open_messages(RecordBatch(memoryview(data)), BatchCompression())
    return [(m.offset, m.timestamp, m.key, m.value, m.headers) for m in messages]


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_the_records_of_a_batch_come_out_of_every_compression(codec: int) -> None:
    data = record_batch(RECORDS, base_offset=90, codec=codec)  # type: ignore[arg-type]
    assert opened(data) == [
        (90, TIMESTAMP, b"k", b"v", ((b"h", b"1"),)),
        (91, TIMESTAMP + 4, None, None, ()),
    ]


def test_with_log_append_time_every_record_has_that_time() -> None:
    data = record_batch(["a", "b"], log_append_time=True, max_timestamp=TIMESTAMP + 9)
    assert [row[1] for row in opened(data)] == [TIMESTAMP + 9, TIMESTAMP + 9]


def test_records_that_are_not_as_many_as_the_header_says_are_refused() -> None:
    with pytest.raises(InvalidRecord):
        opened(record_batch(["a", "b"], count=1))


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_what_is_not_of_its_codec_is_corrupt(codec: int) -> None:
    data = record_batch(["a"], codec=NONE)
    data[22] = codec
    with pytest.raises(CorruptMessage):
        opened(data)


def test_times_alone_are_those_of_the_records() -> None:
    batch = RecordBatch(memoryview(record_batch(RECORDS, base_offset=90, codec=ZSTD)))  # type: ignore[arg-type]
    assert list(open_times(batch, BatchCompression())) == [(90, TIMESTAMP), (91, TIMESTAMP + 4)]


def test_a_batch_with_more_records_than_anybody_sends_is_not_looked_into() -> None:
    data = record_batch(["a"], count=MAX_OPENED_RECORDS + 1)
    with pytest.raises(InvalidRecord, match="cannot be opened"):
        opened(data)
