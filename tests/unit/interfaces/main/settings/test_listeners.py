from __future__ import annotations

import pytest

from interfaces.main.settings.listeners import (
    check_origins,
    parse_address,
    parse_addresses,
    parse_admin,
)


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


def test_the_admin_server_has_addresses_or_is_off() -> None:
    assert parse_admin(["off"]) == parse_admin([]) == ()
    assert [(one.host, one.port) for one in parse_admin([":1", "[::]:2"])] == [("", 1), ("::", 2)]
    for wrong in ("HTTP://:1", "8082", "host", "off,:1"):
        with pytest.raises(ValueError, match=r"."):
            parse_admin(wrong.split(","))


def test_an_origin_is_written_as_browsers_send_it() -> None:
    check_origins(["http://localhost:3000", "https://[::1]", "null", "*"])
    for wrong in ("localhost:3000", "http://localhost:3000/", "http://Example.org", "https://"):
        with pytest.raises(ValueError, match="origins as http://localhost:3000"):
            check_origins([wrong])
