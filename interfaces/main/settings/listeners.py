"""Addresses of the admin side and of the raw stream."""

from __future__ import annotations

import re
from collections.abc import Iterable

from domain.configs.listeners import ListenerAddress, parse_address

#: As browsers send it.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/A-Z]+|null|\*")


def parse_unnamed(texts: Iterable[str]) -> tuple[ListenerAddress, ...]:
    """HOST:PORT; `off`: nowhere. Raises ValueError with the expected text."""
    listed = [text.strip() for text in texts]
    if [text.lower() for text in listed] == ["off"]:
        return ()
    try:
        if not any("://" in text for text in listed):
            return tuple(map(parse_address, listed))
    except ValueError:
        pass
    raise ValueError("HOST:PORT, without a name before it, or off")


def check_origins(texts: Iterable[str]) -> None:
    """Of web pages. Raises ValueError with the expected text."""
    if not all(map(_ORIGIN.fullmatch, texts)):
        raise ValueError("origins as http://localhost:3000, in small letters without a path, or *")
