"""JSON objects that follow one another in a body that arrives in pieces.

Only the end of each object is searched for, in one pass over the bytes; a JSON parser reads the
object. A parser that is run again for each piece would take quadratic time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: An escape, or what begins or ends a string or an object.
_MARKS = re.compile(rb'\\.?|["{}]', re.DOTALL)
#: At most a millisecond, if each byte is a mark.
BYTES_AT_ONCE = 4096


class NotObjects(ValueError):
    """Nothing that follows in the body can be understood."""


class JsonObjects:
    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        #: Up to here it has been searched.
        self._position = 0
        self._depth = 0
        self._in_string = False

    def feed(self, piece: bytes) -> Iterator[bytes | None]:
        """The objects that are complete now, and None where a pause may be; raises NotObjects."""
        for at in range(0, len(piece), BYTES_AT_ONCE):
            self._buffer += piece[at : at + BYTES_AT_ONCE]
            yield from self._complete()
            if len(self._buffer) > self._max_bytes:
                raise NotObjects(f"an object is larger than {self._max_bytes} bytes")
            yield None

    def _complete(self) -> Iterator[bytes]:
        start, position = 0, len(self._buffer)
        for found in _MARKS.finditer(self._buffer, self._position):
            mark = found.group()
            if not self._depth and (mark != b"{" or self._buffer[start : found.start()].strip()):
                raise NotObjects("expected an object, one after the other")
            if mark == b"\\":
                position = found.start()  # the escaped byte is in the next piece
            elif mark == b'"':
                self._in_string = not self._in_string
            elif mark in (b"{", b"}") and not self._in_string:
                self._depth += 1 if mark == b"{" else -1
                if not self._depth:
                    yield bytes(self._buffer[start : found.end()])
                    start = found.end()
        del self._buffer[:start]
        self._position = position - start

    def finish(self) -> None:
        """Raises NotObjects when the body ends within an object."""
        if self._buffer.strip():
            raise NotObjects("the body does not end with an object")
