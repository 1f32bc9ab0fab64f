"""JSON objects that follow one another in a body that comes in pieces.

Each byte is looked at once, however the pieces are cut, and only as much is kept as one object may
have. What is within an object is for a parser; here only its end is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: What changes the depth, or begins a string.
_MARKS = re.compile(rb'["{}\[\]]')
_SPACE = re.compile(rb"[ \t\r\n]*")
#: In a string, up to its end, or to a backslash that is the last byte there is.
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
#: So much is looked at before others may have their turn: half a millisecond if all are marks.
BYTES_AT_ONCE = 1024
_QUOTE, _BEGIN = b'"{'


class NotObjects(ValueError):
    """In words; nothing after it can be understood."""


class JsonObjects:
    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept = bytearray()
        self._looked_at = 0
        self._depth = 0
        self._in_string = False

    def feed(self, piece: bytes) -> Iterator[bytes | None]:
        """The objects that are whole now, and None where a pause may be; raises NotObjects."""
        kept = self._kept
        kept += piece
        start = 0
        at = self._looked_at
        stop = at + BYTES_AT_ONCE
        while at < len(kept):
            if at >= stop:
                yield None
                stop = at + BYTES_AT_ONCE
            if self._in_string:
                at = _end(_IN_STRING, kept, at, stop)
                if at >= min(stop, len(kept)):
                    continue
                if kept[at] == _QUOTE:
                    self._in_string = False
                    at += 1
                elif at + 1 < len(kept):  # a backslash, and what it escapes is behind the stop
                    at += 2
                else:
                    break
                continue
            if not self._depth:
                start = at = _end(_SPACE, kept, at, stop)
                if at >= min(stop, len(kept)):
                    continue
                if kept[at] != _BEGIN:
                    raise NotObjects("expected an object, one after the other")
            mark = _MARKS.search(kept, at, stop)
            if mark is None:
                at = min(stop, len(kept))
                continue
            at = mark.end()
            byte = mark.group()
            if byte == b'"':
                self._in_string = True
            else:
                self._depth += 1 if byte in b"{[" else -1
                if not self._depth:
                    yield bytes(kept[start:at])
                    start = at
        del kept[:start]
        self._looked_at = at - start
        if len(kept) > self._most_bytes:
            raise NotObjects(f"an object is larger than {self._most_bytes} bytes")

    def finish(self) -> None:
        """Raises NotObjects when the body ends within an object."""
        if self._depth:
            raise NotObjects("the body ends within an object")


def _end(what: re.Pattern[bytes], data: bytearray, at: int, stop: int) -> int:
    found = what.match(data, at, stop)
    assert found is not None, "it may be empty"
    return found.end()
