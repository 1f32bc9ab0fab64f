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
def test_records_are_decoded_with_every_codec(codec: int) -> None:
    data = record_batch(RECORDS, base_offset=90, codec=codec)  # type: ignore[arg-type]
    assert opened(data) == [
        (90, TIMESTAMP, b"k", b"v", ((b"h", b"1"),)),
        (91, TIMESTAMP + 4, None, None, ()),
    ]


def test_with_log_append_time_all_records_have_the_time_of_the_batch() -> None:
    data = record_batch(["a", "b"], log_append_time=True, max_timestamp=TIMESTAMP + 9)
    assert [row[1] for row in opened(data)] == [TIMESTAMP + 9, TIMESTAMP + 9]


def test_a_wrong_record_count_is_refused() -> None:
    with pytest.raises(InvalidRecord):
        opened(record_batch(["a", "b"], count=1))


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_a_wrong_codec_is_corrupt(codec: int) -> None:
    data = record_batch(["a"], codec=NONE)
    data[22] = codec
    with pytest.raises(CorruptMessage):
        opened(data)


def test_timestamps_can_be_decoded_alone() -> None:
    batch = RecordBatch(memoryview(record_batch(RECORDS, base_offset=90, codec=ZSTD)))  # type: ignore[arg-type]
    assert list(open_times(batch, BatchCompression())) == [(90, TIMESTAMP), (91, TIMESTAMP + 4)]


def test_a_batch_with_too_many_records_is_not_decoded() -> None:
    data = record_batch(["a"], count=MAX_OPENED_RECORDS + 1)
    with pytest.raises(InvalidRecord, match="cannot be opened"):
        opened(data)
