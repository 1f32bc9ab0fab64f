from __future__ import annotations

import pytest

from interfaces.terminal.addresses import Address, addresses, is_loopback


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a:1", [("a", 1)]),
        ("a", [("a", 9092)]),
        ("a:1, b:2", [("a", 1), ("b", 2)]),
        ("[::1]:9093", [("::1", 9093)]),
        ("::1", [("::1", 9092)]),
        ("PLAINTEXT://a:1", [("a", 1)]),
    ],
)
def test_addresses_are_read(text: str, expected: list[tuple[str, int]]) -> None:
    assert addresses(text) == expected


@pytest.mark.parametrize("text", ["", ",", "a:b", "a:0", "a:70000", ":1"])
def test_an_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        addresses(text)


def test_an_address_is_written_as_it_is_read() -> None:
    assert [str(one) for one in (Address("::1", 1), Address("a", 2))] == ["[::1]:1", "a:2"]


def test_loopback_addresses_are_recognised_without_a_lookup() -> None:
    assert all(map(is_loopback, ("localhost", "a.localhost", "127.0.0.1", "127.1.2.3", "::1")))
    assert not any(map(is_loopback, ("", "0.0.0.0", "127.example.com", "10.0.0.127", "::")))
