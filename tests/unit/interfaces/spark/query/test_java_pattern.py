"""Patterns as Java reads them; tests/e2e/spark/test_java_names.py asks Java itself."""

from __future__ import annotations

import pytest

from interfaces.spark.query.java_pattern import compiled


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        (r"orders-\d+", "orders-17", "orders-x"),
        (r"\Qa.b\E.*", "a.bc", "axbc"),
        (r"[\Q^.\E]x", ".x", "ax"),
        (r"\Qa.", "a.", "ab"),
        (r"(?<n>a|b)-\k<n>", "b-b", "a-b"),
        (r"\p{Alpha}+", "aZ", "a1"),
        (r"\P{Alpha}+", "1_.", "a"),
        (r"[\p{Lower}.]+", "a.b", "a.B"),
        (r"[^\pL]+", "1-2", "1a"),
        (r"[\P{Digit}]+", "a-b", "a1"),
        (r"a\z", "a", "ab"),
        (r"[a&]+", "a", "b"),
        (r"[]a]+", "a", "b"),
        (r"(?i)orders", "OrDeRs", "order"),
        (r"a++b", "aab", "b"),
        (r"(a)\1", "aa", "a1"),
    ],
)
def test_what_java_reads_is_read(pattern: str, fits: str, does_not: str) -> None:
    assert compiled(pattern).fullmatch(fits)
    assert not compiled(pattern).fullmatch(does_not)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("[t&&[^x]].*", "&& in a set is Java's alone"),
        ("[[a]b]", r"a set in a set \(\[a\[b\]\]\) is Java's alone"),
        ("[^a[b]]", "a set in a set"),
        (r"\0141", r"^\\01 is not the same in Java and in Python$"),
        (r"(a)\11", r"^\\11 is not the same"),
        ("(?x)a b", "the flags 'x' are not the same"),
        (r"(?i)\p{Lower}", "where case is ignored"),
        (r"\p{Greek}", r"^\\p\{Greek\} is not known here$"),
        (r"[\p{Punct}-a]", "is no end of a range"),
        (r"[a-\pL]", "is no end of a range"),
        (r"[\b]", r"^\\b means nothing there$"),
        ("[+--]", "Possible set difference"),
        ("(t", "missing \\)"),
        (r"a\h", "bad escape"),
        ("a\\", "means nothing there"),
    ],
)
def test_what_python_would_read_otherwise_is_refused(pattern: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        compiled(pattern)
