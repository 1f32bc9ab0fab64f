"""Connections of Kafka clients."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from interfaces.rest.admin import Connection
from interfaces.rest.responses import listing
from interfaces.rest.routes.resource import Routes, get
from interfaces.rest.shapes.common import ListOf


class ConnectionBody(TypedDict):
    connection_id: int
    client_id: str | None
    software_name: str
    software_version: str
    listener: str
    address: str
    since_ms: int
    in_flight: int
    bytes_in: int
    bytes_out: int
    #: Responses that the client has not read yet.
    unread_bytes: int
    #: No byte came or went since the listener's last check.
    idle: bool


class ConnectionRoutes(Routes):
    tag = "health"

    @get("/connz", ListOf[ConnectionBody])
    async def connz(self, request: Request) -> Response:
        """Every connection to the Kafka listeners, the oldest first."""
        bodies = (_body(one) for one in self._admin.connections())
        return await listing(self._admin, "ConnectionList", str(request.url), bodies)


def _body(connection: Connection) -> ConnectionBody:
    client = connection.client
    return {
        "connection_id": client.connection_id,
        "client_id": client.client_id,
        "software_name": client.software_name,
        "software_version": client.software_version,
        "listener": client.listener,
        "address": client.peer,
        "since_ms": client.since_ms,
        "in_flight": connection.in_flight,
        "bytes_in": connection.bytes_in,
        "bytes_out": connection.bytes_out,
        "unread_bytes": connection.unread_bytes,
        "idle": not connection.active,
    }
