"""Sockets that listen at one HOST:PORT. They accept nothing yet."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from typing import Any

from domain.configs.listeners import EVERY_ADDRESS

#: Connections that wait to be accepted.
BACKLOG = 1024
#: Both loopback addresses.
LOCALHOST = "localhost"
#: As with Kafka, all addresses of IPv6 and IPv4; asyncio would use IPv6 only for `::`.
_DUAL_STACK = ("", "::")
#: Errors of bind() for ::1 on a machine without IPv6.
_NO_IPV6 = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
#: A free port of one loopback address may be in use on the other.
_TRIES = 20


class ListeningSockets:
    """One port on one or more addresses."""

    __slots__ = ("host", "port", "requested_host", "sockets")

    def __init__(self, host: str, sockets: Sequence[socket.socket]) -> None:
        self.requested_host = host
        self.sockets = sockets
        address, self.port = sockets[0].getsockname()[:2]
        #: For display: the first address, or `localhost` for both.
        self.host: str = LOCALHOST if host == LOCALHOST else address

    def close(self) -> None:
        for each in self.sockets:
            each.close()


def announced(advertised: tuple[str, int] | None, bound: tuple[str, int]) -> tuple[str, int]:
    """What clients of other brokers get. Of a listener on every address that advertises none it is,
    as in Kafka, the name of the machine.
    """
    host, port = advertised or bound
    return (socket.gethostname() if host in EVERY_ADDRESS else host), port


def listen(host: str, port: int) -> ListeningSockets:
    """Raises OSError if an address of the host cannot be bound."""
    if host in _DUAL_STACK and socket.has_dualstack_ipv6():
        sockets = [_listening(socket.AF_INET6, ("::", port), dual_stack=True)]
    elif host == LOCALHOST:
        sockets = _listen_on_localhost(port)
    else:
        sockets = _listen_on_all(host, port)
    return ListeningSockets(host, sockets)


def plain_address(host: str) -> str:
    """An IPv4 address of an IPv6 socket in the usual notation."""
    return host.removeprefix("::ffff:")


def _listen_on_localhost(port: int) -> list[socket.socket]:
    """Both, whatever the hosts file says: clients use either, librdkafka at random."""
    for _ in range(_TRIES - 1):
        try:
            return _listen_on_loopback(port)
        except OSError as failure:
            if port or failure.errno != errno.EADDRINUSE:
                raise
    return _listen_on_loopback(port)


def _listen_on_loopback(port: int) -> list[socket.socket]:
    sockets = [_listening(socket.AF_INET, ("127.0.0.1", port))]
    try:
        sockets.append(_listening(socket.AF_INET6, ("::1", sockets[0].getsockname()[1])))
    except OSError as failure:
        if failure.errno not in _NO_IPV6:
            sockets[0].close()
            raise
    return sockets


def _listen_on_all(host: str, port: int) -> list[socket.socket]:
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, (address, _port, *scope) in dict.fromkeys((each[0], each[4]) for each in found):
            sockets.append(_listening(family, (address, port, *scope)))
            port = sockets[0].getsockname()[1]
    except OSError:
        for each in sockets:
            each.close()
        raise
    return sockets


def _listening(
    family: socket.AddressFamily, address: tuple[Any, ...], dual_stack: bool = False
) -> socket.socket:
    # It listens at once: a socket that is only bound does not reserve its port.
    made = socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=dual_stack)
    made.setblocking(False)
    return made
