from __future__ import annotations

from typing import Protocol

from application.ports.log_store import Buffer


class Checksum(Protocol):
    def __call__(self, data: Buffer, /) -> int:
        """CRC-32C (Castagnoli) of the bytes, unsigned."""
        ...
