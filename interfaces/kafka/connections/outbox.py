"""Outbox: sessions that have something to send at the end of the pass; each is flushed once."""

from __future__ import annotations

from operator import methodcaller
from typing import Protocol

from application.ports.scheduler import Scheduler
from application.telling import tell_each


class Sender(Protocol):
    def flush(self) -> None: ...


class Outbox:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._senders: dict[Sender, None] = {}

    def add(self, sender: Sender) -> None:
        if not self._senders:
            self._scheduler.soon(self.flush)
        self._senders[sender] = None

    def flush(self) -> None:
        senders, self._senders = self._senders, {}
        faults = tell_each(senders, methodcaller("flush"))
        if faults:
            raise faults[0]
