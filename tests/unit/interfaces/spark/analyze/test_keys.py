"""Keys as text in the result."""

from __future__ import annotations

import pytest

from interfaces.spark.jobs.analyze.keys import as_text


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        (b"order 7", "order 7"),
        (b"", ""),
        ("Käse".encode(), "Käse"),
        (b"\x00\x01", "0x0001"),
        (b"\xff", "0xff"),
        (b"a\nb", "0x610a62"),
        (b"k" * 64, "k" * 64),
        (b"k" * 65, "k" * 64 + "..."),
        (("k" * 63 + "ä").encode(), "k" * 63 + "..."),
        (b"\xfe" * 65, "0x" + "fe" * 64 + "..."),
    ],
)
def test_a_key_as_text(key: bytes, shown: str) -> None:
    assert as_text(key) == shown
