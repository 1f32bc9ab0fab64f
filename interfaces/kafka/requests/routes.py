"""Routes: for one version of one API, what its requests go through; made at first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from application.metrics.request_counts import RequestCounts
from interfaces.kafka.requests.apis import BY_KEY, Api
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.concerns import telling_what
from interfaces.kafka.wire.headers import API_VERSIONS
from interfaces.kafka.wire.schema import Message, Pieces, Request, Response, decoder, encoder

PRODUCE = 0
FETCH = 1
JOIN_GROUP = 11
SYNC_GROUP = 14

#: None: the call is answered later.
Handler = Callable[[Any, Call], Response | None]
#: What a request that went well teaches of those to come.
Learn = Callable[[memoryview, Any, Call], None]


class Repeated(Protocol):
    def begin(self, frame: memoryview, call: Call) -> bool:
        """Runs the request; False, and nothing has happened, where the ordinary way is needed."""
        ...


class Route:
    __slots__ = (
        "api",
        "counts",
        "decode",
        "encode",
        "failed",
        "handle",
        "kept",
        "learn",
        "learnt_at",
        "repeated",
        "tagged_request",
        "tagged_response",
        "title",
        "version",
        "waits_for_others",
    )

    def __init__(self, api: Api, version: int, max_elements: int | None) -> None:
        messages = api.messages()
        handler = api.handler()
        request: type[Message] = getattr(messages, f"{api.title}Request")
        response: type[Message] = getattr(messages, f"{api.title}Response")
        self.api = api
        self.title = api.title
        self.version = version
        self.counts = RequestCounts()
        self.decode: Callable[[memoryview, int], tuple[Request, int]] = decoder(
            request, version, max_elements
        )
        self.encode: Callable[[Response], Pieces] = encoder(response, version)
        self.handle: Handler = telling_what(request, handler.handle)
        self.failed: Callable[[Any, Call, int], Response] = handler.failed
        self.tagged_request = request.is_flexible(version)
        self.tagged_response = self.tagged_request and api.key != API_VERSIONS
        #: Encoded answers that a handler may give again, with what they were made from.
        self.kept: dict[object, tuple[int, Pieces]] = {}
        #: Requests known by how they begin (see repeated_produce.py), and who learns them.
        self.repeated: dict[bytes, Repeated] = {}
        #: The catalogue's revision that they hold for.
        self.learnt_at = -1
        self.learn: Learn | None = getattr(handler, "learn", None)
        self.waits_for_others = api.key in (FETCH, JOIN_GROUP, SYNC_GROUP)


class Routes:
    def __init__(self, max_elements: int | None = None) -> None:
        """`max_elements`: of all arrays of one request together."""
        self._max_elements = max_elements
        self.made: dict[tuple[int, int], Route] = {}

    def find(self, key: int, version: int) -> Route | None:
        """None when this version of this API is not served."""
        route = self.made.get((key, version))
        if route is None:
            api = BY_KEY.get(key)
            if api is None or not api.serves(version):
                return None
            route = self.made[key, version] = Route(api, version, self._max_elements)
        return route
