from __future__ import annotations

from typing import Protocol

from application.ports.log_store import Buffer


class Compression(Protocol):
    def decompress(self, codec: int, data: Buffer, max_bytes: int) -> bytes:
        """The decompressed records of a batch.

        `codec` is the number in the batch's attributes: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
        Raises CorruptMessage if the data is malformed or larger than `max_bytes`; uses at most
        about twice that memory.
        """
        ...

    def compress(self, codec: int, data: Buffer, level: int | None = None) -> bytes:
        """`level` is that of Kafka's topic configs; None is its default. Snappy has none."""
        ...
