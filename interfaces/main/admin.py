"""Opens the admin side's listeners: a default that is busy stops nobody, what was chosen does."""

from __future__ import annotations

from typing import Protocol

from application.ports.event_log import EventLog
from interfaces.main.settings.listeners import Address
from interfaces.main.settings.origin import DEFAULT
from interfaces.main.settings.sources import Settings
from interfaces.terminal.addresses import host_port


class AdminDoor(Protocol):
    def open(self, host: str, port: int) -> tuple[str, int]: ...


class AdminBusy(Exception):
    def __init__(self, wanted: Address, failure: OSError) -> None:
        self.wanted = wanted
        self.failure = failure


def open_admin(settings: Settings, door: AdminDoor, log: EventLog) -> list[str]:
    """Where it listens. Raises AdminBusy."""
    opened = []
    for wanted in settings.admin:
        try:
            host, port = door.open(wanted.host, wanted.port)
        except OSError as failure:
            if settings.origin("admin.listeners") != DEFAULT:
                raise AdminBusy(wanted, failure) from failure
            log.warning(
                "the admin side is off: its default address cannot be had",
                address=host_port(wanted.host, wanted.port),
                reason=failure.strerror,
                hint="choose another with --admin HOST:PORT, or say --admin off",
            )
        else:
            opened.append(host_port(host, port))
    return opened
