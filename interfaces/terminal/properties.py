"""The format of server.properties, as java.util.Properties reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEPARATORS = "=:"
_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LINE_END = re.compile(r"\r\n|\n|\r")


def parse_properties(text: str) -> dict[str, str]:
    """All entries; the last of equal keys wins. Raises ValueError where Java does."""
    return dict(_entry(line) for line in _logical_lines(text))


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments and blanks, those ending in an odd number of backslashes joined."""
    pending = ""
    for natural in _LINE_END.split(text):
        line = natural.lstrip(_BLANKS)
        if not pending and (not line or line[0] in "#!"):
            continue
        whole = pending + line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending = whole[:-1]
        else:
            pending = ""
            yield whole
    if pending:
        yield pending


def _entry(line: str) -> tuple[str, str]:
    end = 0
    while end < len(line) and line[end] not in _SEPARATORS and line[end] not in _BLANKS:
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_BLANKS)
    if rest[:1] and rest[0] in _SEPARATORS:
        rest = rest[1:].lstrip(_BLANKS)
    return _unescape(line[:end]), _unescape(rest)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    pieces: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character == "\\" and position < len(text):
            character = text[position]
            position += 1
            if character == "u":
                character = _unicode(text[position : position + 4])
                position += 4
            else:
                character = _ESCAPES.get(character, character)
        pieces.append(character)
    # Java keeps UTF-16: a pair of escapes may be one character.
    return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unicode(digits: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
        raise ValueError(f"malformed \\uxxxx escape: \\u{digits}")
    return chr(int(digits, 16))
