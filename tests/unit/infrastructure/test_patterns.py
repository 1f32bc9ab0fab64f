from __future__ import annotations

import pytest

from domain.errors import InvalidRegularExpression
from infrastructure.patterns import MAX_INSTRUCTIONS, MAX_LENGTH, compile_pattern


def test_the_whole_name_has_to_match() -> None:
    matches = compile_pattern("orders-.")
    assert matches("orders-1")
    assert not matches("orders-12")
    assert not matches("my-orders-1")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=x)", "invalid or unsupported Perl syntax"),
        ("a(?<=x)", "invalid named capture"),
        (r"(a)\1", "invalid escape sequence"),
        ("(a", "missing closing )"),
        ("*", "missing argument to repetition operator"),
        ("a{1001}", "invalid repeat count"),
        ("a++", "invalid nested repetition operator"),
        ("[z-a]", "invalid character class range"),
    ],
)
def test_what_is_no_re2_is_refused_in_kafkas_words(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidRegularExpression) as refusal:
        compile_pattern(pattern)
    assert refusal.value.message == reason


def test_what_would_take_too_much_memory_is_refused() -> None:
    with pytest.raises(InvalidRegularExpression, match="too large"):
        compile_pattern("(?:abcdefghij){1000}")


@pytest.mark.parametrize("pattern", ["(?:.?){900}z", "x" * (MAX_INSTRUCTIONS + 1)])
def test_what_would_take_too_much_time_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidRegularExpression, match=r"too large, it takes \d+ instructions"):
        compile_pattern(pattern)


def test_what_is_too_long_is_not_even_read() -> None:
    with pytest.raises(InvalidRegularExpression, match="longer than 4096 characters"):
        compile_pattern("(" * (MAX_LENGTH + 1))


def test_fifty_topics_by_name_are_not_too_much() -> None:
    names = [f"team-{number}-orders-0" for number in range(50)]
    assert compile_pattern("|".join(names))(names[-1])


@pytest.mark.parametrize("pattern", ["é?t", "[^ж]", r"\x{416}?t", r"\pL", "(?i)T"])
def test_what_is_not_ascii_is_understood(pattern: str) -> None:
    assert compile_pattern(pattern)("t")


def test_nested_repetition_takes_no_time() -> None:
    """A backtracking engine would not come back from this."""
    assert not compile_pattern("(a*)*b")("a" * 10_000)
