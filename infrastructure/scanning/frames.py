"""Frames between the broker and a worker process of its own: kind, length, content.

to the worker    JOB a scan    DATA    FAILURE (responses to the questions)
to the broker    READ HEADERS TIME questions to the log    OUTPUT    END    ERROR
"""

from __future__ import annotations

from struct import Struct

JOB, DATA, FAILURE, READ, HEADERS, TIME, OUTPUT, END, ERROR = range(9)

HEAD = Struct(">BI")
#: Partition id, offset, end offset, most bytes, whether the first comes whole.
READ_QUESTION = Struct(">QQQQ?")
#: Partition id, offset, limit.
HEADERS_QUESTION = Struct(">QQQ")
#: Partition id, timestamp.
TIME_QUESTION = Struct(">Qq")
OFFSET = Struct(">Q")


def frame(kind: int, content: bytes = b"") -> bytes:
    return HEAD.pack(kind, len(content)) + content
