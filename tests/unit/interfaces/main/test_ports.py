from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from interfaces.main.ports import CannotStart, Ports
from interfaces.main.settings.origin import Given
from interfaces.main.settings.sources import load_settings
from interfaces.sockets import ListeningSockets, listen
from tests.fakes.logs import FakeEventLog


@contextmanager
def ports(events: FakeEventLog, admin: str | None = None, listeners: str = "") -> Iterator[Ports]:
    values = {"listeners": listeners or "127.0.0.1:0"}
    if admin is not None:
        values["admin.listeners"] = admin
    texts = {name: Given(text, "command line --admin") for name, text in values.items()}
    opened = Ports(load_settings(texts, {}), events)
    try:
        yield opened
    finally:
        opened.close()


def test_all_addresses_are_bound_exclusively() -> None:
    events = FakeEventLog()
    with ports(events, "127.0.0.1:0, [::1]:0", "A://localhost:0,B://127.0.0.1:0") as opened:
        assert [one.host for one in opened.kafka] == ["localhost", "127.0.0.1"]
        assert [one.host for one in opened.admin] == ["127.0.0.1", "::1"]
        for one in (*opened.kafka, *opened.admin):
            with pytest.raises(OSError, match="in use"):
                listen(one.host, one.port)
    with ports(events, "off") as opened:
        assert opened.admin == []
    assert events.lines == []


def test_a_busy_default_admin_port_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(host: str, port: int) -> ListeningSockets:
        if port == 8082:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        return listen(host, port)

    monkeypatch.setattr("interfaces.main.ports.listen", busy)
    events = FakeEventLog()
    with ports(events) as opened:
        assert (len(opened.kafka), opened.admin) == (1, [])
    [(level, event, fields)] = events.lines
    assert level == "warning"
    assert event == "admin_listener_unavailable"
    assert (fields["address"], fields["error"]) == ("localhost:8082", "Address already in use")


def test_a_busy_chosen_port_stops_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotStart) as busy, ports(FakeEventLog(), f"127.0.0.1:{port}"):
            pass
    assert str(busy.value) == (
        f"cannot listen on 127.0.0.1:{port}: the port is in use; "
        "choose another port with --admin HOST:PORT (port 0: any free one)"
    )
