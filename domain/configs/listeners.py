"""Listeners and advertised listeners: NAME://HOST:PORT."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

_ADDRESS = re.compile(
    r"(?:(?P<name>[A-Za-z0-9_.-]+)://)?(?:\[(?P<ipv6>[^\]]*)\]|(?P<host>[^:/\[\]\s]*)):(?P<port>\d{1,5})"
)
EVERY_ADDRESS = ("", "0.0.0.0", "::")


class ListenerAddress(NamedTuple):
    """NAME://HOST:PORT; an empty host is every address of this machine."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"

    @property
    def everywhere(self) -> bool:
        return self.host in EVERY_ADDRESS


def parse_address(text: str) -> ListenerAddress:
    """Raises ValueError with the expected text."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or int(match["port"]) > 65535:
        raise ValueError("[NAME://]HOST:PORT, an IPv6 address in brackets, a port up to 65535")
    host = match["host"] if match["ipv6"] is None else match["ipv6"]
    return ListenerAddress((match["name"] or "PLAINTEXT").upper(), host, int(match["port"]))


def parse_addresses(texts: Iterable[str]) -> dict[str, ListenerAddress]:
    """By name, in order. Raises ValueError with the expected text."""
    addresses: dict[str, ListenerAddress] = {}
    for text in texts:
        address = parse_address(text)
        if address.name in addresses:
            raise ValueError(
                "a different name for each listener, as in OTHER://HOST:PORT; "
                f"{address.name} is there twice"
            )
        addresses[address.name] = address
    return addresses


def check_advertised(texts: Iterable[str], listeners: Collection[str]) -> None:
    """Raises ValueError with the expected text; `listeners` are names."""
    addresses = parse_addresses(texts)
    for address in addresses.values():
        if address.everywhere:
            raise ValueError(f"an address that clients can connect to, not {str(address)!r}")
    if unknown := addresses.keys() - set(listeners):
        raise ValueError(
            f"names that `listeners` has ({', '.join(listeners)}), not {', '.join(sorted(unknown))}"
        )
