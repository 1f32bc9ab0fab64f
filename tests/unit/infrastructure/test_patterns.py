from __future__ import annotations

import pytest

from domain.errors import InvalidRegularExpression
from infrastructure.patterns import (
    MAX_INSTRUCTIONS,
    MAX_LENGTH,
    compile_large_pattern,
    compile_pattern,
)


def test_a_pattern_matches_whole_names() -> None:
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
def test_patterns_that_re2_does_not_support_are_refused_with_kafkas_message(
    pattern: str, reason: str
) -> None:
    with pytest.raises(InvalidRegularExpression) as refusal:
        compile_pattern(pattern)
    assert refusal.value.message == reason


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?:abcdefghij){1000}", "pattern too large"),
        ("(?:.?){900}z", r"too large, it takes \d+ instructions"),
        ("x" * (MAX_INSTRUCTIONS + 1), r"too large, it takes \d+ instructions"),
        ("(" * (MAX_LENGTH + 1), "longer than 4096 characters"),
    ],
    ids=["memory", "time", "instructions", "length"],
)
def test_a_pattern_that_costs_too_much_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidRegularExpression, match=reason):
        compile_pattern(pattern)


def test_fifty_names_of_topics_are_accepted() -> None:
    names = [f"team-{number}-orders-0" for number in range(50)]
    assert compile_pattern("|".join(names))(names[-1])


def test_a_large_pattern_is_limited_by_re2_only() -> None:
    names = [f"team-{number}-orders" for number in range(10_000)]
    matches = compile_large_pattern("|".join(names))
    assert matches(names[-1])
    assert not matches("team-10000-orders")
    with pytest.raises(InvalidRegularExpression, match="too large"):
        compile_large_pattern("(?:abcdefghij){1000}" * 100)


@pytest.mark.parametrize("pattern", ["é?t", "[^ж]", r"\x{416}?t", r"\pL", "(?i)T"])
def test_patterns_can_have_any_characters(pattern: str) -> None:
    assert compile_pattern(pattern)("t")


def test_nested_repetition_is_fast() -> None:
    """A backtracking engine would not end."""
    assert not compile_pattern("(a*)*b")("a" * 10_000)
