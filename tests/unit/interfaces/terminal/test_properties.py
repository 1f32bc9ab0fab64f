"""Cases in which readers differ; java.util.Properties agrees on 20,000 random texts."""

from __future__ import annotations

import pytest

from interfaces.terminal.properties import parse_properties


@pytest.mark.parametrize(
    "text, entries",
    [
        ("a=b", {"a": "b"}),
        ("a : b", {"a": "b"}),
        ("  a   b c ", {"a": "b c "}),
        ("a==b", {"a": "=b"}),
        ("a", {"a": ""}),
        ("# a=b\n! c=d\n\ne=f", {"e": "f"}),
        ("a=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b,\\\n   c,\\\n\td", {"a": "b,c,d"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=b\\\n# no comment", {"a": "b# no comment"}),
        ("a\\=b\\:c=d", {"a=b:c": "d"}),
        ("a=\\t\\u0041\\q", {"a": "\tAq"}),
        ("a=\\ud83d\\ude00", {"a": "\N{GRINNING FACE}"}),
        ("path=C\\:\\\\kafka", {"path": "C:\\kafka"}),
    ],
)
def test_entries_are_read_as_java_reads_them(text: str, entries: dict[str, str]) -> None:
    assert parse_properties(text) == entries


def test_a_broken_escape_is_refused() -> None:
    with pytest.raises(ValueError, match="malformed"):
        parse_properties("a=\\u12")
