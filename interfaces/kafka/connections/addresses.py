"""Addresses, as people write them."""

from __future__ import annotations


def plain_address(host: str) -> str:
    """An IPv4 address that came in through an IPv6 socket, as people write it."""
    return host.removeprefix("::ffff:")
