"""A pattern of topic names as Java reads it, for Python, which reads some of it otherwise.

Only names of topics are held against it: letters and digits of ASCII, dots, dashes and underscores.
So line ends, blanks and Unicode make no difference, and classes of characters are those of ASCII.
What Python would silently take for something else is translated or refused; what it does not know
either it refuses itself.
"""

from __future__ import annotations

import re
import string
import warnings
from collections.abc import Callable
from functools import lru_cache

_LOWER, _UPPER, _DIGITS = "a-z", "A-Z", "0-9"
_LETTERS = _LOWER + _UPPER
_MARKS = "._-"
#: What \p{...} means of names of topics; Java takes some of them with Is before, or in short.
_CLASSES = {
    **dict.fromkeys(("Lower", "Ll", "javaLowerCase", "IsLowercase"), _LOWER),
    **dict.fromkeys(("Upper", "Lu", "javaUpperCase", "IsUppercase"), _UPPER),
    **dict.fromkeys(("Alpha", "L", "IsAlphabetic", "IsLetter", "IsL"), _LETTERS),
    **dict.fromkeys(("Digit", "N", "Nd", "IsDigit", "IsN", "IsNd"), _DIGITS),
    **dict.fromkeys(("Alnum",), _LETTERS + _DIGITS),
    **dict.fromkeys(("XDigit", "IsHex_Digit"), _DIGITS + "a-fA-F"),
    **dict.fromkeys(("Punct", "P", "IsPunctuation", "IsP"), r"._\-"),
    **dict.fromkeys(("ASCII", "Graph", "Print"), _LETTERS + _DIGITS + r"._\-"),
}
_OF_A_CASE = (_LOWER, _UPPER)
_NAMES = string.ascii_letters + string.digits + _MARKS
_CLASS = re.compile(r"([pP])(?:\{([^}]*)\}|(.))")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)|\\.|.", re.DOTALL)
_GROUP = re.compile(r"\(\?(?:<([a-zA-Z][a-zA-Z0-9]*)>|([a-zA-Z-]*)[:)])")
_REFERENCE = re.compile(r"k<(\w+)>")


@lru_cache(16)
def compiled(pattern: str) -> re.Pattern[str]:
    """Raises ValueError, which says why not."""
    translated = _Translation(_without_quotes(pattern)).whole()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return re.compile(translated)
    except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError) as wrong:
        raise ValueError(str(wrong)) from None


def _without_quotes(pattern: str) -> str:
    def escaped(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        return "".join(f"\\x{ord(c):02x}" if c.isdecimal() else re.escape(c) for c in found[1])

    return _QUOTED.sub(escaped, pattern)


class _Translation:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._ignores_case = False
        self._has_case = False

    def whole(self) -> str:
        translated = self._until_end({"\\": self._escape, "(": self._group, "[": self._set})
        if self._ignores_case and self._has_case:
            raise ValueError(r"\p of one case, where case is ignored, is not the same in any Java")
        return translated

    def _until_end(self, special: dict[str, Callable[[], str]], end: str = "") -> str:
        parts: list[str] = []
        while self._at < len(self._pattern):
            character = self._pattern[self._at]
            if character == end and parts:
                break
            self._at += 1
            parts.append(special[character]() if character in special else character)
        return "".join(parts)

    def _taken(self, expression: re.Pattern[str], start: int) -> re.Match[str] | None:
        found = expression.match(self._pattern, start)
        if found:
            self._at = found.end()
        return found

    def _escape(self) -> str:
        if found := self._taken(_REFERENCE, self._at):
            return f"(?P={found[1]})"
        if self._pattern.startswith("z", self._at):
            self._at += 1
            return r"\Z"
        if found := self._taken(_CLASS, self._at):
            return f"[{self._characters(found)}]"
        return self._same_escape()

    def _escape_in_set(self) -> str:
        before = self._pattern[: self._at - 1]
        if not (found := self._taken(_CLASS, self._at)):
            return self._same_escape("b")
        if before.endswith("-") or re.match(r"-[^\]]", self._pattern[self._at :]):
            raise ValueError(f"\\{found[0]} is no end of a range")
        return self._characters(found)

    def _same_escape(self, others: str = "") -> str:
        """Of what both have; two digits are another group or character in Java."""
        following = self._pattern[self._at : self._at + 2]
        if following[:1] == "0" or (following.isdecimal() and len(following) == 2):
            raise ValueError(f"\\{following} is not the same in Java and in Python")
        if not following or following[0] in others:
            raise ValueError(f"\\{following[:1]} means nothing there")
        self._at += 1
        return f"\\{following[0]}"

    def _characters(self, found: re.Match[str]) -> str:
        name = found[2] if found[2] is not None else found[3]
        inside = _CLASSES.get(name)
        if inside is None:
            raise ValueError(f"\\{found[0]} is not known here")
        self._has_case |= inside in _OF_A_CASE
        if found[1] == "p":
            return inside
        others = [c for c in _NAMES if not re.match(f"[{inside}]", c)]
        return "".join(map(re.escape, others)) or r"\x00"

    def _group(self) -> str:
        found = _GROUP.match(self._pattern, self._at - 1)
        if found is None:
            return "("
        if found[1]:
            self._at = found.end()
            return f"(?P<{found[1]}>"
        flags = found[2].partition("-")[0]
        if "x" in flags or "L" in flags or "a" in flags:
            raise ValueError(f"the flags {found[2]!r} are not the same in Java and in Python")
        self._ignores_case |= "i" in flags
        return "("

    def _set(self) -> str:
        start = "["
        if self._pattern.startswith("^", self._at):
            self._at += 1
            start += "^"
        special = {"\\": self._escape_in_set, "[": self._nested, "&": self._and}
        inside = self._until_end(special, "]")
        return start + (f"\\{inside}" if inside.startswith("]") else inside)

    def _nested(self) -> str:
        raise ValueError(r"a set in a set ([a[b]]) is Java's alone; \[ is the character")

    def _and(self) -> str:
        if self._pattern.startswith("&", self._at):
            raise ValueError("&& in a set is Java's alone; (?=...) before it says the same")
        return r"\&"
