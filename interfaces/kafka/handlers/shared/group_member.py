"""The address of a group member."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from interfaces.kafka.requests.call import Call


def client_host(call: Call) -> str:
    """In the format of Java's InetAddress: `/127.0.0.1`, `/0:0:0:0:0:0:0:1`."""
    host = call.peer.client.peer.rpartition(":")[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return f"/{host}"
    if not isinstance(address, IPv6Address):
        return f"/{host}"
    return "/" + ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))
