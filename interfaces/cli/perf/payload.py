"""The values of records: random letters, as Kafka's tools send, which a terminal can show."""

from __future__ import annotations

import os

_LETTERS = bytes(ord("A") + byte % 26 for byte in range(256))


def payload(size: int) -> bytes:
    return os.urandom(size).translate(_LETTERS)
