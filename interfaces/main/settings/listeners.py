"""Addresses of the admin side; security protocols of listeners."""

from __future__ import annotations

import re
from collections.abc import Iterable

from domain.configs.listeners import ListenerAddress, parse_address

#: As browsers send it.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/A-Z]+|null|\*")
#: Security protocols of Kafka, which are listener names too.
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def parse_admin(texts: Iterable[str]) -> tuple[ListenerAddress, ...]:
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
