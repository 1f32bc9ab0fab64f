"""Certificates of the listeners with TLS: read at the start, again when a file changes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.scheduler import Scheduler
from domain.configs.listener_security import ListenerSecurity

if TYPE_CHECKING:
    from infrastructure.security.tls import TlsCertificates

CHECK_FILES_MS = 2000
_DAY_MS = 24 * 60 * 60 * 1000
#: Of life left.
_WARN_MS = 30 * _DAY_MS


class Certificates:
    """Raises TlsUnusable."""

    def __init__(self, listeners: Mapping[str, ListenerSecurity], events: EventLog) -> None:
        self._events = events
        self.of_listener: dict[str, TlsCertificates] = {}
        with_tls = {name: one for name, one in listeners.items() if one.protocol.needs_tls}
        if with_tls:
            from infrastructure.security.stores import StoreSettings, TlsUnusable
            from infrastructure.security.tls import TlsCertificates

            for name, one in with_tls.items():
                settings = StoreSettings(one.value, one.key_of)
                try:
                    self.of_listener[name] = TlsCertificates(settings)
                except TlsUnusable as failure:
                    raise TlsUnusable(f"listener {name}: {failure}") from failure

    def watch(self, scheduler: Scheduler) -> None:
        """Files are looked at now and then, without a change of theirs being reported."""
        if self.of_listener:
            scheduler.after_ms(CHECK_FILES_MS, lambda: self._check(scheduler))

    def warn_daily(self, scheduler: Scheduler, clock: Clock) -> None:
        """Of certificates that expire soon."""
        if not self.of_listener:
            return
        scheduler.after_ms(_DAY_MS, lambda: self.warn_daily(scheduler, clock))
        for name, one in self.of_listener.items():
            end_ms = datetime.fromisoformat(one.not_after).timestamp() * 1000
            if end_ms - clock.now_ms() < _WARN_MS:
                self._events.warning("certificate_expires", listener=name, not_after=one.not_after)

    def _check(self, scheduler: Scheduler) -> None:
        self.watch(scheduler)
        for name, one in self.of_listener.items():
            if one.changed():
                self._renew(name, one)

    def renew(self) -> None:
        """Reads all files again."""
        for name, one in self.of_listener.items():
            one.changed()
            self._renew(name, one)

    def _renew(self, name: str, one: TlsCertificates) -> None:
        from infrastructure.security.stores import TlsUnusable

        try:
            one.renew()
        except TlsUnusable as failure:
            self._events.warning("certificate_refused", listener=name, error=failure)
        else:
            self._events.info("certificate_renewed", listener=name, not_after=one.not_after)
