"""Keys of `batches` and `timestamps`: they compare as bytes, so big-endian is ascending."""

from __future__ import annotations

from struct import Struct

#: Partition id, last offset or timestamp.
KEY = Struct(">IQ")
OFFSET = Struct(">Q")
