"""Addresses of brokers: HOST:PORT, [IPv6]:PORT, or HOST with the default port."""

from __future__ import annotations

from typing import NamedTuple

USUAL_PORT = 9092


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return host_port(self.host, self.port)


def host_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    if host in ("localhost", "::1") or host.endswith(".localhost"):
        return True
    first, *others = host.split(".")
    return first == "127" and len(others) == 3 and all(map(str.isdecimal, others))


def addresses(servers: str, usual_port: int = USUAL_PORT) -> list[Address]:
    """Raises ValueError with a message for users."""
    found = [_address(part.strip(), usual_port) for part in servers.split(",") if part.strip()]
    if not found:
        raise ValueError("no address")
    return found


def _address(text: str, usual_port: int) -> Address:
    _, scheme, rest = text.rpartition("://")
    del scheme
    if rest.startswith("["):
        host, _, after = rest[1:].partition("]")
        port = after.removeprefix(":")
    elif rest.count(":") > 1:
        host, port = rest, ""
    else:
        host, _, port = rest.partition(":")
    if not host:
        raise ValueError(f"no host in {text!r}")
    if not port:
        return Address(host, usual_port)
    if not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r}: invalid port {port!r}")
    return Address(host, int(port))
