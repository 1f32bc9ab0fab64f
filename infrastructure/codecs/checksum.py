"""CRC-32C: one C function behind the port, so that another library is one line.

It reads bytes, bytearray and memoryview without a copy.
"""

from __future__ import annotations

from crc32c import crc32c

__all__ = ["crc32c"]
