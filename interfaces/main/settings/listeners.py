"""Listeners and advertised listeners: NAME://HOST:PORT."""

from __future__ import annotations

import re
from collections.abc import Iterable

from interfaces.terminal.addresses import host_port

#: As browsers send it.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/A-Z]+|null|\*")
_ADDRESS = re.compile(
    r"(?:(?P<name>[A-Za-z0-9_.-]+)://)?(?:\[(?P<ipv6>[^\]]*)\]|(?P<host>[^:/\[\]\s]*)):(?P<port>\d{1,5})"
)
#: Security protocols of Kafka, which are listener names too.
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
EVERY_ADDRESS = ("", "0.0.0.0", "::")


class Address:
    """NAME://HOST:PORT; an empty host is every address of this machine."""

    __slots__ = ("host", "name", "port")

    def __init__(self, name: str, host: str, port: int) -> None:
        self.name = name
        self.host = host
        self.port = port

    def __str__(self) -> str:
        return f"{self.name}://{host_port(self.host, self.port)}"


class ListenerSettings:
    """One listener. Without an advertised address, metadata has the one a client connected to."""

    __slots__ = ("advertised_host", "advertised_port", "host", "name", "port")

    def __init__(
        self,
        name: str,
        host: str,
        port: int,
        advertised_host: str | None = None,
        advertised_port: int | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.advertised_host = advertised_host
        #: None: the bound port.
        self.advertised_port = advertised_port

    @property
    def everywhere(self) -> bool:
        return self.host in EVERY_ADDRESS


def parse_address(text: str) -> Address:
    """Raises ValueError with the expected text."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or int(match["port"]) > 65535:
        raise ValueError("[NAME://]HOST:PORT, an IPv6 address in brackets, a port up to 65535")
    host = match["host"] if match["ipv6"] is None else match["ipv6"]
    return Address((match["name"] or "PLAINTEXT").upper(), host, int(match["port"]))


def parse_addresses(texts: Iterable[str]) -> dict[str, Address]:
    """By name, in order. Raises ValueError with the expected text."""
    addresses: dict[str, Address] = {}
    for text in texts:
        address = parse_address(text)
        if address.name in addresses:
            raise ValueError(
                "a different name for each listener, as in OTHER://HOST:PORT; "
                f"{address.name} is there twice"
            )
        addresses[address.name] = address
    return addresses


def parse_advertised(texts: Iterable[str]) -> dict[str, Address]:
    addresses = parse_addresses(texts)
    for address in addresses.values():
        if address.host in EVERY_ADDRESS:
            raise ValueError(f"an address that clients can connect to, not {str(address)!r}")
    return addresses


def parse_admin(texts: Iterable[str]) -> tuple[Address, ...]:
    """Where the admin side listens; `off`: nowhere. Raises ValueError with the expected text."""
    listed = [text.strip() for text in texts]
    if [text.lower() for text in listed] == ["off"]:
        return ()
    if any("://" in text for text in listed):
        raise ValueError("HOST:PORT, without a name before it, or off")
    return tuple(map(parse_address, listed))


def check_origins(texts: Iterable[str]) -> None:
    """Of web pages. Raises ValueError with the expected text."""
    if not all(map(_ORIGIN.fullmatch, texts)):
        raise ValueError("origins as http://localhost:3000, in small letters without a path, or *")


def parse_protocol_map(texts: Iterable[str]) -> dict[str, str]:
    protocols: dict[str, str] = {}
    for text in texts:
        name, colon, protocol = (part.strip().upper() for part in text.partition(":"))
        if not name or not colon or protocol not in PROTOCOLS:
            raise ValueError(f"NAME:PROTOCOL, with a protocol of {', '.join(PROTOCOLS)}")
        protocols[name] = protocol
    return protocols


def protocol_of(name: str, protocols: dict[str, str]) -> str:
    return protocols.get(name, name if name in PROTOCOLS else "PLAINTEXT")
