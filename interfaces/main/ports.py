"""Ports: binds all addresses before a data folder is created or opened.

A busy port stops the start, unless it is the default of the admin side.
"""

from __future__ import annotations

import errno

from application.ports.event_log import EventLog
from domain.configs.listeners import ListenerAddress
from interfaces.main.settings.origin import DEFAULT
from interfaces.main.settings.sources import Settings
from interfaces.sockets import ListeningSockets, listen
from interfaces.terminal.addresses import host_port


class CannotStart(Exception):
    """An expected failure: one line, no traceback."""


class Ports:
    """Raises CannotStart."""

    def __init__(self, settings: Settings, log: EventLog) -> None:
        #: One for each listener of the settings, in their order.
        self.kafka: list[ListeningSockets] = []
        self.raw: list[ListeningSockets] = []
        self.admin: list[ListeningSockets] = []
        try:
            for listener in settings.listeners:
                self.kafka.append(_listen(listener, "--listen"))
            for address in settings.raw:
                self.raw.append(_listen(address, "--raw"))
            for address in settings.admin:
                self._listen_for_admin(address, settings, log)
        except CannotStart:
            self.close()
            raise

    def _listen_for_admin(
        self, address: ListenerAddress, settings: Settings, log: EventLog
    ) -> None:
        try:
            self.admin.append(_listen(address, "--admin"))
        except CannotStart as failure:
            if settings.origin("admin.listeners") != DEFAULT:
                raise
            log.warning(
                "admin_listener_unavailable",
                address=host_port(address.host, address.port),
                error=getattr(failure.__cause__, "strerror", None),
                hint="choose another address with --admin HOST:PORT, or use --admin off",
            )

    def close(self) -> None:
        for each in (*self.kafka, *self.raw, *self.admin):
            each.close()


def _listen(place: ListenerAddress, option: str) -> ListeningSockets:
    try:
        return listen(place.host, place.port)
    except OSError as failure:
        reason = reason_of(failure)
        if failure.errno == errno.EADDRINUSE:
            reason = (
                "the port is in use; "
                f"choose another port with {option} HOST:PORT (port 0: any free one)"
            )
        address = host_port(place.host, place.port)
        raise CannotStart(f"cannot listen on {address}: {reason}") from failure


def reason_of(failure: Exception) -> str:
    text = failure.strerror if isinstance(failure, OSError) else str(failure)
    return (text or type(failure).__name__).replace("\n", " ")
