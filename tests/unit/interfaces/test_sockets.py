from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from interfaces.sockets import ListeningSockets, listen


@contextmanager
def bound(host: str, port: int = 0) -> Iterator[ListeningSockets]:
    found = listen(host, port)
    try:
        yield found
    finally:
        found.close()


def addresses(found: ListeningSockets) -> list[tuple[str, int]]:
    return [each.getsockname()[:2] for each in found.sockets]


def test_localhost_is_both_loopback_addresses_and_one_port() -> None:
    with bound("localhost") as found:
        assert addresses(found) == [("127.0.0.1", found.port), ("::1", found.port)]
        assert (found.host, found.port > 0) == ("localhost", True)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1")])
def test_an_address_is_that_address(host: str, shown: str) -> None:
    with bound(host) as found:
        assert addresses(found) == [(shown, found.port)]
        assert found.host == shown


@pytest.mark.parametrize("host", ["", "::"])
def test_every_address_is_one_socket_for_ipv4_and_ipv6(host: str) -> None:
    with bound(host) as found:
        assert addresses(found) == [("::", found.port)]
        for client in ("127.0.0.1", "::1"):
            socket.create_connection((client, found.port)).close()


def test_a_port_that_is_taken_on_one_of_the_addresses_is_refused() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        with pytest.raises(OSError, match="in use") as refused:
            listen("localhost", taken.getsockname()[1])
        assert refused.value.errno == errno.EADDRINUSE


class Ipv6Fails:
    """What bind() of an IPv6 socket says, for as many times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, times: int) -> None:
        self.left = times
        failing = self

        class Socket(socket.socket):
            def bind(self, address: Any) -> None:
                if self.family == socket.AF_INET6 and failing.left:
                    failing.left -= 1
                    raise OSError(number, "no")
                super().bind(address)

        monkeypatch.setattr(socket, "socket", Socket)


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT])
def test_without_ipv6_localhost_is_ipv4(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    Ipv6Fails(monkeypatch, number, 1)
    with bound("localhost") as found:
        assert addresses(found) == [("127.0.0.1", found.port)]


def test_a_free_port_that_ipv6_has_in_use_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    Ipv6Fails(monkeypatch, errno.EADDRINUSE, 2)
    with bound("localhost") as found:
        assert len(found.sockets) == 2
