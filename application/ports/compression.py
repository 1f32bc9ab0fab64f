from __future__ import annotations

from typing import Protocol

from application.ports.log_store import Buffer


class Compression(Protocol):
    def decompress(self, codec: int, data: Buffer, max_bytes: int) -> bytes:
        """The records of a batch as they were before the producer compressed them.

        `codec` is the number in the batch's attributes: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
        Raises CorruptMessage when the data is not of that codec or would be larger than
        `max_bytes`; never uses more memory than about twice that.
        """
        ...

    def compress(self, codec: int, data: Buffer) -> bytes: ...
