"""JSON objects that follow one another in a body that comes in pieces.

Each byte is looked at once, however the pieces are cut, and only as much is kept as one object may
have. What is within an object is for a parser; here only its end is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: What changes the depth, or begins or ends a string.
_MARKS = re.compile(rb'["\\{}\[\]]')
_SPACE = b" \t\r\n"


class NotObjects(ValueError):
    """In words; nothing after it can be understood."""


class JsonObjects:
    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept = bytearray()
        self._looked_at = 0
        self._depth = 0
        self._in_string = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The objects that are whole now; raises NotObjects."""
        kept = self._kept
        kept += piece
        start = 0
        at = self._looked_at
        while True:
            if not self._depth:
                start = at = _past_space(kept, at)
                if at < len(kept) and kept[at : at + 1] != b"{":
                    raise NotObjects("expected an object, one after the other")
            mark = _MARKS.search(kept, at)
            if mark is None:
                at = len(kept)
                break
            byte = mark.group()
            at = mark.end()
            if byte == b"\\":
                if self._in_string:
                    if at == len(kept):  # what it escapes has not come yet
                        at -= 1
                        break
                    at += 1
            elif byte == b'"':
                self._in_string = not self._in_string
            elif not self._in_string:
                self._depth += 1 if byte in b"{[" else -1
                if not self._depth:
                    yield bytes(kept[start:at])
        del kept[:start]
        self._looked_at = at - start
        if len(kept) > self._most_bytes:
            raise NotObjects(f"an object is larger than {self._most_bytes} bytes")

    def finish(self) -> None:
        """Raises NotObjects when the body ends within an object."""
        if self._depth:
            raise NotObjects("the body ends within an object")


def _past_space(data: bytearray, at: int) -> int:
    while at < len(data) and data[at] in _SPACE:
        at += 1
    return at
