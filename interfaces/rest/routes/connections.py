"""Connections of Kafka clients."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from interfaces.rest.routes.resource import ShortRoutes, get
from interfaces.rest.shapes.common import ListOf, fields


class ConnectionBody(TypedDict):
    connection_id: Annotated[int, attrgetter("client.connection_id")]
    client_id: Annotated[str | None, attrgetter("client.client_id")]
    software_name: Annotated[str, attrgetter("client.software_name")]
    software_version: Annotated[str, attrgetter("client.software_version")]
    listener: Annotated[str, attrgetter("client.listener")]
    address: Annotated[str, attrgetter("client.peer")]
    since_ms: Annotated[int, attrgetter("client.since_ms")]
    in_flight: int
    bytes_in: int
    bytes_out: int
    #: Responses that the client has not read yet.
    unread_bytes: int
    #: No byte came or went since the listener's last check.
    idle: Annotated[bool, lambda connection: not connection.active]


class ConnectionRoutes(ShortRoutes):
    tag = "health"

    @get("/connz", ListOf[ConnectionBody])
    async def connz(self, request: Request) -> Response:
        """Every connection to the Kafka listeners, the oldest first."""
        bodies = (fields(ConnectionBody, each) for each in self._admin.connections())
        return await self._list(request, "ConnectionList", bodies)
