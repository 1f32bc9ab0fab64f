from __future__ import annotations

import pytest

from domain.configs.listeners import parse_address, parse_addresses


@pytest.mark.parametrize(
    "text, name, host, port",
    [
        ("127.0.0.1:9092", "PLAINTEXT", "127.0.0.1", 9092),
        (":9092", "PLAINTEXT", "", 9092),
        ("PLAINTEXT://:9092", "PLAINTEXT", "", 9092),
        ("outside://broker.example:19092", "OUTSIDE", "broker.example", 19092),
        ("[::1]:0", "PLAINTEXT", "::1", 0),
        ("V6://[::]:65535", "V6", "::", 65535),
    ],
)
def test_an_address_has_name_host_and_port(text: str, name: str, host: str, port: int) -> None:
    address = parse_address(text)
    assert (address.name, address.host, address.port) == (name, host, port)


@pytest.mark.parametrize(
    "text", ["", "9092", "host", "host:", "host:65536", "::1:9092", "a://b", "h:1/x"]
)
def test_an_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\[NAME://\]HOST:PORT"):
        parse_address(text)


def test_two_listeners_cannot_share_a_name() -> None:
    with pytest.raises(ValueError, match="PLAINTEXT is there twice"):
        parse_addresses(["a:1", "b:2"])
