"""max.connections.per.ip.overrides: `ADDRESS:NUMBER,...`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address


@lru_cache(maxsize=4)
def parse_ip_overrides(text: str) -> Mapping[str, int]:
    """Raises ValueError."""
    overrides: dict[str, int] = {}
    for item in text.split(",") if text else ():
        address, _, number = item.strip().rpartition(":")
        try:
            canonical, limit = str(ip_address(address.strip().strip("[]"))), int(number)
        except ValueError:
            raise ValueError(f"ADDRESS:NUMBER,... with IP addresses, not {item!r}") from None
        if limit < 0:
            raise ValueError(f"a number of at least 0, not {limit}")
        overrides[canonical] = limit
    return overrides
