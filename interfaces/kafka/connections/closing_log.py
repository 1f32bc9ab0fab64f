"""Warnings about connections that the broker closed or refused.

A client that is configured wrong connects again many times a second. What it does wrong is logged
at once, and then at most once a minute for each host and reason, with the latest connection and how
many there were.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from application.ports.event_log import EventLog
from application.ports.request_log import ClientInfo
from application.ports.scheduler import Scheduler

MINUTE_MS = 60_000
#: Hosts and reasons that are counted apart; those of more hosts are counted together.
MAX_COUNTED = 1000
OTHER_HOSTS = "other hosts"


class Fault(NamedTuple):
    event: str
    host: str
    reason: str


class ClosingLog:
    def __init__(self, events: EventLog, scheduler: Scheduler) -> None:
        self._events = events
        self._scheduler = scheduler
        #: How often since it was last logged, and the fields of the latest.
        self._since: dict[Fault, tuple[int, dict[str, object]]] = {}

    def __len__(self) -> int:
        return len(self._since)

    def closed(self, client: ClientInfo, reason: str, detail: str = "") -> None:
        """By a decision of the broker: each is logged."""
        fields = _fields(client, detail)
        self._events.warning("connection_closed", reason=reason, peer=client.peer, **fields)

    def rejected(self, client: ClientInfo, reason: str, detail: str, **more: object) -> None:
        """Because of what the client sent."""
        host = client.peer.rpartition(":")[0]
        self._count(Fault("connection_closed", host, reason), _fields(client, detail) | more)

    def refused(self, host: str, reason: str, detail: str) -> None:
        self._count(Fault("connection_refused", host, reason), {"detail": detail})

    def _count(self, fault: Fault, fields: dict[str, object]) -> None:
        if len(self._since) >= MAX_COUNTED and fault not in self._since:
            fault = fault._replace(host=OTHER_HOSTS)
        before = self._since.get(fault)
        if before is None:
            self._write(fault, 1, fields)
        else:
            self._since[fault] = before[0] + 1, fields

    def finish(self) -> None:
        """When the broker stops: what was counted since it was last logged."""
        counted, self._since = self._since, {}
        for fault, (connections, fields) in counted.items():
            if connections:
                self._log(fault, connections, fields)

    def _write(self, fault: Fault, connections: int, fields: dict[str, object]) -> None:
        self._since[fault] = 0, {}
        self._scheduler.after_ms(MINUTE_MS, partial(self._minute_over, fault))
        self._log(fault, connections, fields)

    def _minute_over(self, fault: Fault) -> None:
        connections, fields = self._since.pop(fault, (0, {}))
        if connections:
            self._write(fault, connections, fields | {"within_seconds": MINUTE_MS // 1000})

    def _log(self, fault: Fault, connections: int, fields: dict[str, object]) -> None:
        fields = {"reason": fault.reason, "peer": fault.host, "connections": connections} | fields
        if fault.event == "connection_refused":
            self._events.warning("connection_refused", **fields)
        else:
            self._events.warning("connection_closed", **fields)


def _fields(client: ClientInfo, detail: str) -> dict[str, object]:
    fields: dict[str, object] = {"detail": detail} if detail else {}
    return fields | {"connection_id": client.connection_id, "client_id": client.client_id}
