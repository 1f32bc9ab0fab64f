from __future__ import annotations

from typing import Protocol


class Pattern(Protocol):
    """A regular expression that takes time in proportion to the text, whoever wrote it."""

    #: What a character of a name may cost at worst.
    worst_ns: int

    def matches(self, name: str) -> bool:
        """Whether the whole of the name is what the pattern means."""
        ...


class Patterns(Protocol):
    def compile(self, pattern: str) -> Pattern:
        """Raises InvalidRegularExpression, with the reason as its message."""
        ...
