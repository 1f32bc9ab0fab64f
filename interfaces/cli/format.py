"""Formats for printing and reading records, with the letters of kcat.

    %t topic  %p partition  %o offset  %k key  %v %s value  %h headers  %T timestamp  %d time
    %K %V %S lengths  %H number of headers  %% a percent sign

A format is parsed once; then printing is a join and reading a few splits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from interfaces.cli.failures import UsageError
from interfaces.cli.moments import in_words

Headers = list[tuple[str, bytes | None]]

_TOKEN = re.compile(r"%(.)|\\(x[0-9A-Fa-f]{2}|.)|([^%\\]+)|([%\\])$", re.DOTALL)
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}


class Printed(Protocol):
    """The used part of confluent-kafka's Message."""

    def topic(self) -> str: ...
    def partition(self) -> int: ...
    def offset(self) -> int: ...
    def key(self) -> bytes | None: ...
    def value(self) -> bytes | None: ...
    def headers(self) -> Headers | None: ...
    def timestamp(self) -> tuple[int, int]: ...


class Field(NamedTuple):
    letter: str


def pieces(text: str, letters: str) -> list[bytes | Field]:
    """Literals and fields; raises UsageError for an unknown letter."""
    found: list[bytes | Field] = []
    for match in _TOKEN.finditer(text):
        letter, escape, literal, lonely = match.groups()
        if lonely:
            raise UsageError(f"incomplete {lonely} at the end of the format")
        if letter is not None and letter != "%":
            if letter not in letters:
                raise UsageError(f"unknown %{letter}: expected one of %{', %'.join(letters)}, %%")
            found.append(Field(letter))
            continue
        raw = b"%" if letter else literal.encode() if literal is not None else _escape(escape)
        before = found[-1] if found else None
        if isinstance(before, bytes):
            found[-1] = before + raw
        else:
            found.append(raw)
    return found


def literal(text: str) -> bytes:
    """A delimiter: with escapes, without fields."""
    found = pieces(text.replace("%", "%%"), "")
    return b"".join(one for one in found if isinstance(one, bytes))


def _escape(escape: str) -> bytes:
    if len(escape) == 3:
        return bytes.fromhex(escape[1:])
    if escape not in _ESCAPES:
        raise UsageError(f"unknown \\{escape}: expected \\n, \\t, \\r, \\0, \\xNN or \\\\")
    return _ESCAPES[escape]


# ---- printing


def _length(data: bytes | None) -> bytes:
    return b"%d" % (-1 if data is None else len(data))


def _headers(message: Printed) -> bytes:
    return b",".join(
        name.encode() + b"=" + (value or b"") for name, value in message.headers() or ()
    )


_PRINTERS: dict[str, Callable[[Printed], bytes]] = {
    "t": lambda message: message.topic().encode(),
    "p": lambda message: b"%d" % message.partition(),
    "o": lambda message: b"%d" % message.offset(),
    "k": lambda message: message.key() or b"",
    "v": lambda message: message.value() or b"",
    "s": lambda message: message.value() or b"",
    "h": _headers,
    "T": lambda message: b"%d" % message.timestamp()[1],
    "d": lambda message: in_words(message.timestamp()[1]).encode(),
    "K": lambda message: _length(message.key()),
    "V": lambda message: _length(message.value()),
    "S": lambda message: _length(message.value()),
    "H": lambda message: b"%d" % len(message.headers() or ()),
}


def printer(text: str) -> Callable[[Printed], bytes]:
    parts = [
        one if isinstance(one, bytes) else _PRINTERS[one.letter]
        for one in pieces(text, "".join(_PRINTERS))
    ]

    def printed(message: Printed) -> bytes:
        return b"".join(one if isinstance(one, bytes) else one(message) for one in parts)

    return printed


# ---- reading


def quoted(data: bytes) -> str:
    """For an error."""
    return repr(data.decode("utf-8", "backslashreplace"))


_READ_LETTERS = "kvhtpTs"
#: A longer record without an end is an error.
_LONGEST_RECORD = 1 << 30
_PIECE_BYTES = 64 * 1024


class Reader:
    """Splits a byte stream into records and their fields."""

    def __init__(self, text: str) -> None:
        parts = pieces(text, _READ_LETTERS)
        if not parts or isinstance(parts[-1], Field):
            parts.append(b"\n")
        end = parts.pop()
        assert isinstance(end, bytes)
        self._end = end
        first = parts[0] if parts else None
        self._prefix = first if isinstance(first, bytes) else b""
        self.letters: list[str] = []
        self._between: list[bytes] = []
        for before, one in zip([None, *parts], parts, strict=False):
            if isinstance(one, Field):
                if isinstance(before, Field):
                    raise UsageError(
                        f"a delimiter is missing between %{before.letter} and %{one.letter}"
                    )
                if one.letter in self.letters:
                    raise UsageError(f"%{one.letter} is in the format twice")
                self.letters.append(one.letter)
            elif before is not None:
                self._between.append(one)
        if not self.letters:
            raise UsageError("the format has no field like %v")

    def records(self, read: Callable[[int], bytes]) -> Iterator[dict[str, bytes]]:
        """`read` returns up to so many bytes, and b"" at the end."""
        rest = b""
        number = 0
        while data := read(_PIECE_BYTES):
            *whole, rest = (rest + data).split(self._end)
            if len(rest) > _LONGEST_RECORD:
                raise UsageError("no end of record within 1 GiB")
            for raw in whole:
                number += 1
                yield self._record(raw, number)
        if rest:
            yield self._record(rest, number + 1)

    def _record(self, raw: bytes, number: int) -> dict[str, bytes]:
        if not raw.startswith(self._prefix):
            raise UsageError(f"record {number} does not begin with {quoted(self._prefix)}")
        raw = raw[len(self._prefix) :]
        found: dict[str, bytes] = {}
        for letter, separator in zip(self.letters, self._between, strict=False):
            field, separated, raw = raw.partition(separator)
            if not separated:
                raise UsageError(f"record {number} has no {quoted(separator)} after %{letter}")
            found[letter] = field
        found[self.letters[-1]] = raw
        return found
