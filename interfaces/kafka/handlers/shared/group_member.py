"""Who a group is told that its member is, and what every member is told."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from domain.errors import BrokerError
from interfaces.kafka.requests.call import Call


def client_host(call: Call) -> str:
    """As Kafka writes an address: `/127.0.0.1`, `/0:0:0:0:0:0:0:1`."""
    host = call.peer.client.peer.rpartition(":")[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return f"/{host}"
    if not isinstance(address, IPv6Address):
        return f"/{host}"
    return "/" + ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))


def code_of(error: BrokerError | None, call: Call, expected: type[BrokerError]) -> int:
    """`expected`: nothing is wrong, it is how members of a group are led."""
    if error is None:
        return 0
    return call.expected_code(error) if isinstance(error, expected) else call.code(error)
