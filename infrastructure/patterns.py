"""Regular expressions by RE2: what a client sends never makes the broker backtrack.

RE2's time is proportional to the name and to the program that the expression compiles to: about
3 ns for each character and instruction where its automaton does not fit, else next to nothing. So
programs are limited: the longest topic name takes less than a millisecond.
"""

from __future__ import annotations

from typing import Any

from application.ports.patterns import Matches
from domain.errors import InvalidRegularExpression

MAX_LENGTH = 4096
MAX_INSTRUCTIONS = 1024

#: Memory of a compiled expression, with the automaton that grows as names are matched.
MAX_BYTES = 64 << 10
#: RE2's default.
_RE2_BYTES = 8 << 20

#: Messages of re2 -> those of RE2/J, which Kafka uses.
_RE2J_MESSAGES = {
    "invalid perl operator: (?<=": "invalid named capture",
    "invalid perl operator: (?<!": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
}


def compile_pattern(pattern: str) -> Matches:
    """Within the broker's limits, for the patterns of clients."""
    if len(pattern) > MAX_LENGTH:
        raise InvalidRegularExpression(f"longer than {MAX_LENGTH} characters")
    compiled = _compiled(pattern, MAX_BYTES)
    if compiled.programsize > MAX_INSTRUCTIONS:
        raise InvalidRegularExpression(
            f"too large, it takes {compiled.programsize} instructions of {MAX_INSTRUCTIONS} at most"
        )
    return _matches(compiled)


def compile_large_pattern(pattern: str) -> Matches:
    """Within RE2's own limit of memory only, for a process that serves one user."""
    return _matches(_compiled(pattern, _RE2_BYTES))


def _matches(compiled: Any) -> Matches:
    fullmatch = compiled.fullmatch
    return lambda name: fullmatch(name.encode()) is not None


def _compiled(pattern: str, max_bytes: int) -> Any:
    # Most brokers never see a subscription by regular expression.
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = max_bytes
    if pattern.isascii():
        # Names of topics are ASCII: a character that is one byte makes a fifth of the program.
        options.encoding = re2.Options.Encoding.LATIN1
        try:
            return re2.compile(pattern.encode(), options=options)
        except re2.error:
            options.encoding = re2.Options.Encoding.UTF8
    try:
        return re2.compile(pattern.encode(), options=options)
    except re2.error as reason:
        raise InvalidRegularExpression(_words(reason)) from reason


def _words(reason: Exception) -> str:
    message = reason.args[0] if reason.args else reason
    words = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
    kind = words.partition(":")[0]
    return _RE2J_MESSAGES.get(words) or _RE2J_MESSAGES.get(kind, kind)
