"""RecordBatch: a view of the bytes of one batch (format v2).

Records are not changed. The broker patches header fields in place: base offset and leader epoch,
which the checksum does not cover, and the fields of a log append time, which it covers.

    0 base offset   8 length   12 leader epoch   16 magic   17 crc   21 attributes
    23 last offset delta   27 base timestamp   35 max timestamp
    43 producer id   51 producer epoch   53 base sequence   57 record count   61 records
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct

from domain.errors import BrokerError, CorruptMessage, InvalidRecord, InvalidTimestamp

HEADER_BYTES = 61
#: Bytes before the part that the length field counts.
LENGTH_OVERHEAD_BYTES = 12
#: The length of an empty batch of format v0, the smallest.
MIN_LENGTH = 14
CHECKSUM_START = 21
RECORDS_START = HEADER_BYTES

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
#: The base timestamp is the delete horizon of tombstones (KIP-534).
DELETE_HORIZON = 0x40

CODEC_ZSTD = 4

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1

MAX_SEQUENCE = 2**31 - 1

HEADER = Struct(">qiibIhiqqqhii")
#: Base offset, length, last offset delta.
EXTENT = Struct(">qi11xi")
LENGTH = Struct(">8xi")
_BASE_OFFSET = Struct(">q")
_LENGTH = Struct(">i")
_EPOCH = Struct(">i")
CRC_START = 17
CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_MAX_TIMESTAMP = Struct(">q")
PRODUCER_START = 43
#: Id, epoch, base sequence.
PRODUCER = Struct(">qhi")

Buffer = bytes | bytearray | memoryview
Checksum = Callable[[memoryview], int]


class RecordBatch:
    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "buffer",
        "count",
        "crc",
        "last_offset_delta",
        "leader_epoch",
        "length",
        "magic",
        "max_timestamp",
        "producer_epoch",
        "producer_id",
    )

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    def __init__(self, buffer: memoryview) -> None:
        """Reads the header of a whole batch, or of its first 61 bytes; checks nothing."""
        self.buffer = buffer
        (
            self.base_offset,
            self.length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.count,
        ) = HEADER.unpack_from(buffer)

    @property
    def size_bytes(self) -> int:
        return self.length + LENGTH_OVERHEAD_BYTES

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def delete_horizon(self) -> int | None:
        """When the tombstones of the batch may be removed; None: not decided yet."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None

    @property
    def last_sequence(self) -> int:
        return advance_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def records(self) -> memoryview:
        return self.buffer[RECORDS_START : self.size_bytes]

    def check_crc(self, checksum: Checksum) -> None:
        if checksum(self.buffer[CHECKSUM_START:]) != self.crc:
            raise corrupt()

    def set_offset(self, base_offset: int, leader_epoch: int) -> None:
        """Sets base offset and leader epoch."""
        self.base_offset = base_offset
        self.leader_epoch = leader_epoch
        _BASE_OFFSET.pack_into(self.buffer, 0, base_offset)
        _EPOCH.pack_into(self.buffer, 12, leader_epoch)

    def set_attributes(self, attributes: int) -> None:
        """The checksum has to follow."""
        self.attributes = attributes
        _ATTRIBUTES.pack_into(self.buffer, 21, attributes)

    def stamp(self, log_append_time_ms: int, checksum: Checksum) -> None:
        """Sets the log append time, and the new checksum."""
        self.set_attributes(self.attributes | LOG_APPEND_TIME)
        self.max_timestamp = log_append_time_ms
        _MAX_TIMESTAMP.pack_into(self.buffer, 35, log_append_time_ms)
        self.crc = checksum(self.buffer[CHECKSUM_START:])
        CRC.pack_into(self.buffer, CRC_START, self.crc)

    def recompressed(self, codec: int, records: bytes, checksum: Checksum) -> None:
        """Replaces the records by the same ones in another compression, in a new buffer."""
        self.length = HEADER_BYTES - LENGTH_OVERHEAD_BYTES + len(records)
        self.buffer = memoryview(bytearray(b"".join((self.buffer[:HEADER_BYTES], records))))
        _LENGTH.pack_into(self.buffer, 8, self.length)
        self.set_attributes(self.attributes & ~CODEC_MASK | codec)
        self.crc = checksum(self.buffer[CHECKSUM_START:])
        CRC.pack_into(self.buffer, CRC_START, self.crc)


def advance_sequence(sequence: int, by: int) -> int:
    """Sequence numbers wrap from 2^31 - 1 to 0."""
    return (sequence + by) & MAX_SEQUENCE


def batches_in(data: Buffer) -> Iterator[RecordBatch]:
    """Consecutive whole batches, each as a view; raises CorruptMessage at anything else."""
    view = memoryview(data)
    while view:
        size_bytes = LENGTH_OVERHEAD_BYTES
        if len(view) >= HEADER_BYTES:
            size_bytes += EXTENT.unpack_from(view)[1]
        if not HEADER_BYTES <= size_bytes <= len(view):
            raise corrupt()
        yield RecordBatch(view[:size_bytes])
        view = view[size_bytes:]


def next_offset(records: Buffer) -> int:
    """The offset after the last of one or more whole batches."""
    last, start = -1, 0
    last_start = len(records) - HEADER_BYTES
    while last < start <= last_start:  # a damaged length may be negative
        last = start
        start += LENGTH.unpack_from(records, start)[0] + LENGTH_OVERHEAD_BYTES
    return last_offset_of(records, last) + 1 if last >= 0 else 1


def last_offset_of(batch: Buffer, start: int = 0) -> int:
    base_offset, _, last_offset_delta = EXTENT.unpack_from(batch, start)
    last_offset: int = base_offset + last_offset_delta
    return last_offset


def parse_single_batch(records: memoryview | None) -> RecordBatch:
    """The produce data of a partition must be exactly one whole batch of format v2."""
    if records is None or len(records) < HEADER_BYTES:
        raise InvalidRecord("Produce requests must have exactly one record batch per partition")
    batch = RecordBatch(records)
    if batch.length + LENGTH_OVERHEAD_BYTES != len(records) or batch.magic != 2:
        _refuse_shape(batch, len(records))
    return batch


def _refuse_shape(batch: RecordBatch, size_bytes: int) -> None:
    if batch.length < MIN_LENGTH:
        raise CorruptMessage(
            f"Record size {batch.length} is less than the minimum record overhead ({MIN_LENGTH})"
        )
    if not 0 <= batch.magic <= 2:
        raise CorruptMessage(f"Invalid magic found in record: {batch.magic}")
    if batch.magic == 2 and batch.size_bytes < HEADER_BYTES:
        raise CorruptMessage(f"Record batch is corrupt: {batch.size_bytes} bytes hold no header")
    if batch.magic != 2:
        raise InvalidRecord(
            "Produce requests are only allowed to contain record batches with magic version 2"
        )
    if batch.size_bytes > size_bytes:
        raise InvalidRecord("Produce requests must have exactly one record batch per partition")
    raise InvalidRecord("Produce requests must contain no more than one record batch per partition")


def validation_error(batch: RecordBatch) -> BrokerError:
    """The error for a batch that `Partition.append` refuses."""
    if batch.base_offset != 0:
        return InvalidRecord(
            f"The base offset of a record batch should be 0, but it is {batch.base_offset}"
        )
    if batch.count <= 0 or batch.count != batch.last_offset_delta + 1:
        return InvalidRecord(
            f"Record batch has an invalid offset range or count: last offset delta "
            f"{batch.last_offset_delta}, {batch.count} records"
        )
    if batch.attributes & CONTROL:
        return InvalidRecord("Clients are not allowed to write control records")
    if batch.attributes & LOG_APPEND_TIME:
        return InvalidTimestamp("Producers may not set the timestamp type to LogAppendTime")
    if batch.codec > CODEC_ZSTD:
        return InvalidRecord(f"Unknown compression type id: {batch.codec}")
    return InvalidRecord(
        f"Invalid sequence number {batch.base_sequence} in record batch with producer id "
        f"{batch.producer_id}"
    )


def corrupt() -> BrokerError:
    return CorruptMessage("Record batch is corrupt: its checksum does not match its bytes")
