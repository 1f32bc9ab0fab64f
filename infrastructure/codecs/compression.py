"""Compression: the four codecs of record batches, with a bound on what comes out.

The bound is what makes a client's bytes safe to look into: a few kilobytes can claim to be
gigabytes. So nothing here calls a decompressor that allocates its own output: zlib stops at a
length, the others write into a buffer of ours that grows by doubling up to the limit.

cramjam is imported at first use: most brokers never look into a compressed batch.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from application.ports.log_store import Buffer
from domain.errors import CorruptMessage

if TYPE_CHECKING:
    from types import ModuleType

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)

#: Kafka's.
_DEFAULT_LEVELS = {GZIP: -1, LZ4: 9, ZSTD: 3}
#: Kafka takes LZ4's fast compressor for the default level, and HC for all others.
_LZ4_FAST = 1

_GZIP_WINDOW_BITS = 31
#: What zlib leaves over at the end of a member is copied: small pieces keep many members cheap.
_GZIP_PIECE_BYTES = 16 * 1024
_FIRST_GUESS_RATIO = 8
_SMALLEST_GUESS_BYTES = 64 * 1024

#: Java's snappy-java ("xerial") framing: magic, two version numbers, then blocks with a length.
_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
_LENGTH = struct.Struct(">i")


class BatchCompression:
    """Satisfies `application.ports.compression.Compression`."""

    __slots__ = ()

    def decompress(self, codec: int, data: Buffer, max_bytes: int) -> bytes:
        if codec == NONE:
            if len(data) > max_bytes:
                raise _too_large(max_bytes)
            return bytes(data)
        if codec == GZIP:
            return _gunzip(data, max_bytes)
        if codec == SNAPPY:
            return _unsnappy(data, max_bytes)
        if codec == LZ4:
            return _grow(_cramjam().lz4.decompress_into, data, max_bytes)
        if codec == ZSTD:
            return _grow(_cramjam().zstd.decompress_into, data, max_bytes)
        raise CorruptMessage(f"There is no compression codec {codec}.")

    def compress(self, codec: int, data: Buffer, level: int | None = None) -> bytes:
        if codec == NONE:
            return bytes(data)
        if level is None:
            level = _DEFAULT_LEVELS.get(codec, 0)
        if codec == GZIP:
            return zlib.compress(data, level, _GZIP_WINDOW_BITS)
        if codec == SNAPPY:
            return _xerial(data)
        if codec == LZ4:
            if level == _DEFAULT_LEVELS[LZ4]:
                level = _LZ4_FAST
            # Java refuses frames whose blocks depend on each other.
            compressor = _cramjam().lz4.Compressor(level=level, block_linked=False)
            compressor.compress(data)
            return bytes(compressor.finish())
        if codec == ZSTD:
            return bytes(_cramjam().zstd.compress(data, level))
        raise ValueError(f"There is no compression codec {codec}.")


#: The codec's only word for it; everything else it says means that the data is wrong.
_BUFFER_TOO_SMALL = "failed to write whole buffer"


def _cramjam() -> ModuleType:
    import cramjam

    return cramjam


def _too_large(max_bytes: int) -> CorruptMessage:
    return CorruptMessage(f"The batch is larger than {max_bytes} bytes when decompressed.")


def _gunzip(data: Buffer, max_bytes: int) -> bytes:
    view = memoryview(data)
    member = zlib.decompressobj(_GZIP_WINDOW_BITS)
    pieces: list[bytes] = []
    room = max_bytes + 1  # never 0, which zlib takes for "no limit"
    position = 0
    while position < len(view):
        if member.eof:
            member = zlib.decompressobj(_GZIP_WINDOW_BITS)
        taken = view[position : position + _GZIP_PIECE_BYTES]
        try:
            piece = member.decompress(taken, room)
        except zlib.error as error:
            raise CorruptMessage(f"The batch is not valid gzip: {error}") from error
        room -= len(piece)
        if room <= 0:
            raise _too_large(max_bytes)
        pieces.append(piece)
        position += len(taken) - len(member.unused_data)
    if not member.eof:
        raise CorruptMessage("The batch is not valid gzip: it ends too early.")
    return b"".join(pieces)


def _grow(decompress_into: Callable[[Any, bytearray], int], data: Buffer, max_bytes: int) -> bytes:
    """Decompresses into a buffer that doubles for as long as it is too small."""
    size = min(max(len(data) * _FIRST_GUESS_RATIO, _SMALLEST_GUESS_BYTES), max_bytes)
    while True:
        buffer = bytearray(size)
        try:
            length = decompress_into(data, buffer)
        except _cramjam().DecompressionError as error:
            if size >= max_bytes or str(error) != _BUFFER_TOO_SMALL:
                raise CorruptMessage(
                    f"The batch is not valid, or larger than {max_bytes} bytes: {error}"
                ) from error
            size = min(size * 2, max_bytes)
            continue
        return bytes(memoryview(buffer)[:length])


def _unsnappy(data: Buffer, max_bytes: int) -> bytes:
    """Raw snappy (librdkafka, Go), or snappy-java's frames of it (Java, KafkaJS, aiokafka)."""
    snappy = _cramjam().snappy
    view = memoryview(data)
    try:
        total = sum(snappy.decompress_raw_len(block) for block in _snappy_blocks(view))
        if total > max_bytes:
            raise _too_large(max_bytes)
        buffer = bytearray(total)
        room = memoryview(buffer)
        for block in _snappy_blocks(view):
            room = room[snappy.decompress_raw_into(block, room) :]
    except _cramjam().DecompressionError as error:
        raise CorruptMessage(f"The batch is not valid snappy: {error}") from error
    return bytes(buffer)


def _snappy_blocks(view: memoryview) -> Iterator[memoryview]:
    magic = len(_XERIAL_MAGIC)
    if view[:magic] != _XERIAL_MAGIC:
        yield view
        return
    position = 0
    while position < len(view):
        if view[position : position + magic] == _XERIAL_MAGIC:  # also between joined streams
            position += len(_XERIAL_HEADER)
            continue
        start = position + _LENGTH.size
        if start > len(view):
            raise CorruptMessage("The batch is not valid snappy: it ends within a length.")
        (length,) = _LENGTH.unpack_from(view, position)
        position = start + length
        if length <= 0 or position > len(view):
            raise CorruptMessage(f"The batch is not valid snappy: a block of {length} bytes.")
        yield view[start:position]


def _xerial(data: Buffer) -> bytes:
    """As snappy-java writes it: every client reads that, some read nothing else."""
    compress = _cramjam().snappy.compress_raw
    pieces = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(compress(data[start : start + _XERIAL_BLOCK_BYTES]))
        pieces.append(_LENGTH.pack(len(block)))
        pieces.append(block)
    return b"".join(pieces)
