from __future__ import annotations

import errno

import pytest

from interfaces.main.admin import AdminBusy, open_admin
from interfaces.main.settings.origin import Given
from interfaces.main.settings.sources import load_settings
from tests.fakes.logs import FakeEventLog


class Door:
    def __init__(self, *taken: int) -> None:
        self.taken = taken

    def open(self, host: str, port: int) -> tuple[str, int]:
        if port in self.taken:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        return host or "0.0.0.0", port or 40_000


def opened(door: Door, events: FakeEventLog, given: str | None = None) -> list[str]:
    texts = {} if given is None else {"admin.listeners": Given(given, "command line --admin")}
    return open_admin(load_settings(texts, {}), door, events)


def test_it_listens_where_it_is_told() -> None:
    events = FakeEventLog()
    assert opened(Door(), events) == ["localhost:8082"]
    assert opened(Door(), events, "127.0.0.1:0, :9, [::1]:7") == [
        "127.0.0.1:40000",
        "0.0.0.0:9",
        "[::1]:7",
    ]
    assert opened(Door(), events, "off") == []
    assert events.lines == []


def test_a_default_that_is_busy_is_a_warning() -> None:
    events = FakeEventLog()
    assert opened(Door(8082), events) == []
    [(level, event, fields)] = events.lines
    assert level == "warning"
    assert event == "the admin side is off: its default address cannot be had"
    assert fields["address"] == "localhost:8082"


def test_a_chosen_address_that_is_busy_ends_the_start() -> None:
    with pytest.raises(AdminBusy) as busy:
        opened(Door(8082), FakeEventLog(), "127.0.0.1:8082")
    assert busy.value.wanted.port == 8082
    assert busy.value.failure.errno == errno.EADDRINUSE
