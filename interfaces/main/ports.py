"""Ports: every address of the settings, had before a data folder is created or opened.

A default of the admin side that is busy stops nobody; what was chosen does.
"""

from __future__ import annotations

import errno

from application.ports.event_log import EventLog
from interfaces.main.settings.listeners import Address, ListenerSettings
from interfaces.main.settings.origin import DEFAULT
from interfaces.main.settings.sources import Settings
from interfaces.sockets import ListeningSockets, listen
from interfaces.terminal.addresses import host_port


class CannotStart(Exception):
    """Expected on some machines: one line, no traceback."""


class Ports:
    """Raises CannotStart."""

    def __init__(self, settings: Settings, log: EventLog) -> None:
        #: One for each listener of the settings, in their order.
        self.kafka: list[ListeningSockets] = []
        self.admin: list[ListeningSockets] = []
        try:
            for wanted in settings.listeners:
                self.kafka.append(_listen(wanted, "--listen"))
            for address in settings.admin:
                self._listen_for_admin(address, settings, log)
        except CannotStart:
            self.close()
            raise

    def _listen_for_admin(self, wanted: Address, settings: Settings, log: EventLog) -> None:
        try:
            self.admin.append(_listen(wanted, "--admin"))
        except CannotStart as failure:
            if settings.origin("admin.listeners") != DEFAULT:
                raise
            log.warning(
                "admin_listener_unavailable",
                address=host_port(wanted.host, wanted.port),
                error=getattr(failure.__cause__, "strerror", None),
                hint="choose another address with --admin HOST:PORT, or use --admin off",
            )

    def close(self) -> None:
        for each in (*self.kafka, *self.admin):
            each.close()


def _listen(wanted: ListenerSettings | Address, option: str) -> ListeningSockets:
    try:
        return listen(wanted.host, wanted.port)
    except OSError as failure:
        reason = reason_of(failure)
        if failure.errno == errno.EADDRINUSE:
            reason = (
                "the port is in use; "
                f"choose another port with {option} HOST:PORT (port 0: any free one)"
            )
        address = host_port(wanted.host, wanted.port)
        raise CannotStart(f"cannot listen on {address}: {reason}") from failure


def reason_of(failure: Exception) -> str:
    text = failure.strerror if isinstance(failure, OSError) else str(failure)
    return (text or type(failure).__name__).replace("\n", " ")
