"""Warnings about connections that the broker closed or refused, and requests it denied.

A misconfigured client reconnects many times a second. The first warning of a host and reason is
logged at once, later ones at most once a minute, with the latest connection and their number. So
are denials of a user's right to resources of a type, with the latest name: clients choose names.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from application.ports.event_log import EventLog
from application.ports.request_log import REMEMBERED_CHARACTERS, ClientInfo, Requester
from application.ports.scheduler import Scheduler
from application.security.conversation import Refused
from domain.security.access import Operation, ResourceType

MINUTE_MS = 60_000
#: Hosts and reasons that are counted separately; further hosts are counted together.
MAX_COUNTED = 1000
OTHER_HOSTS = "other hosts"


class WarningKey(NamedTuple):
    event: str
    host: str
    reason: str
    #: What was denied.
    right: str = ""


class ClosingLog:
    def __init__(self, events: EventLog, scheduler: Scheduler) -> None:
        self._events = events
        self._scheduler = scheduler
        #: Connections since the last log line, and the fields of the latest one.
        self._since: dict[WarningKey, tuple[int, dict[str, object]]] = {}
        #: Denied rights since the start.
        self.denials = 0

    def __len__(self) -> int:
        return len(self._since)

    def closed(self, client: ClientInfo, reason: str, detail: str = "") -> None:
        """The broker closed the connection; each one is logged."""
        fields = _fields(client, detail)
        self._events.warning("connection_closed", reason=reason, peer=client.peer, **fields)

    def rejected(self, client: ClientInfo, reason: str, detail: str, **more: object) -> None:
        """The broker closed the connection because of bytes that the client sent."""
        host = client.peer.rpartition(":")[0]
        self._count(WarningKey("connection_closed", host, reason), _fields(client, detail) | more)

    def refused(self, host: str, reason: str, detail: str) -> None:
        self._count(WarningKey("connection_refused", host, reason), {"detail": detail})

    def denied(
        self,
        by: Requester,
        api: str,
        correlation_id: int | str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> None:
        """A right was missing."""
        self.denials += 1
        fields: dict[str, object] = {
            **by.fields(),
            "api": api,
            "operation": operation.value,
            "resource_type": resource_type.value,
            "resource": name[:REMEMBERED_CHARACTERS],
            "correlation_id": correlation_id,
        }
        right = f"{by.principal} {api} {operation.value} {resource_type.value}"
        host = by.peer.rpartition(":")[0]
        self._count(WarningKey("authorization_denied", host, "", right), fields)

    def unauthenticated(
        self,
        client: ClientInfo,
        refused: Refused,
        user: str,
        mechanism: str,
        correlation_id: int | str,
    ) -> None:
        """An authentication failed; `user` is the one that the client claims to be."""
        host = client.peer.rpartition(":")[0]
        fields = _fields(client, refused.detail) | {
            "principal": f"User:{user[:REMEMBERED_CHARACTERS]}" if user else "",
            "mechanism": mechanism,
            "listener": client.listener,
            "correlation_id": correlation_id,
        }
        self._count(WarningKey("authentication_failed", host, refused.reason), fields)

    def _count(self, key: WarningKey, fields: dict[str, object]) -> None:
        if len(self._since) >= MAX_COUNTED and key not in self._since:
            key = key._replace(host=OTHER_HOSTS, right="")
        before = self._since.get(key)
        if before is None:
            self._write(key, 1, fields)
        else:
            self._since[key] = before[0] + 1, fields

    def finish(self) -> None:
        """Logs the remaining counts when the broker stops."""
        counted, self._since = self._since, {}
        for key, (connections, fields) in counted.items():
            if connections:
                self._log(key, connections, fields)

    def _write(self, key: WarningKey, connections: int, fields: dict[str, object]) -> None:
        self._since[key] = 0, {}
        self._scheduler.after_ms(MINUTE_MS, partial(self._minute_over, key))
        self._log(key, connections, fields)

    def _minute_over(self, key: WarningKey) -> None:
        connections, fields = self._since.pop(key, (0, {}))
        if connections:
            self._write(key, connections, fields | {"within_seconds": MINUTE_MS // 1000})

    def _log(self, key: WarningKey, connections: int, fields: dict[str, object]) -> None:
        if key.event == "authorization_denied":
            if key.host == OTHER_HOSTS:
                fields = fields | {"peer": OTHER_HOSTS}
            self._events.warning("authorization_denied", **fields, denials=connections)
            return
        fields = {"reason": key.reason, "peer": key.host, "connections": connections} | fields
        if key.event == "connection_refused":
            self._events.warning("connection_refused", **fields)
        elif key.event == "authentication_failed":
            self._events.warning("authentication_failed", **fields)
        else:
            self._events.warning("connection_closed", **fields)


def _fields(client: ClientInfo, detail: str) -> dict[str, object]:
    fields: dict[str, object] = {"detail": detail} if detail else {}
    return fields | {"connection_id": client.connection_id, "client_id": client.client_id}
