"""CORS: headers that let browsers show responses to pages of the origins in the setting."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response

from interfaces.rest.errors import RestError
from interfaces.rest.serving.correlation import HEADER
from interfaces.rest.serving.methods import METHODS

#: That a page may read, beside those that it always may.
_EXPOSED = (HEADER, "location", "warning", "content-disposition")


def origin_headers(origins: Collection[str], origin: str | None) -> dict[str, str]:
    """Of a response that does not come from the app `with_cors`."""
    if origin is None or not {"*", origin} & set(origins):
        return {}
    if "*" in origins:
        return {"access-control-allow-origin": "*"}
    return {"access-control-allow-origin": origin, "vary": "Origin"}


def with_cors(app: Any, origins: Collection[str]) -> Any:
    """Without origins: the app as it is. Never with credentials, which nothing here uses."""
    if not origins:
        return app
    from starlette.middleware.cors import CORSMiddleware

    class Cors(CORSMiddleware):
        def preflight_response(self, request_headers: Headers) -> Response:
            response = super().preflight_response(request_headers)
            if response.status_code != HTTPStatus.OK:
                raise RestError(response.status_code, bytes(response.body).decode())
            return response

    return Cors(
        app,
        allow_origins=origins,
        allow_methods=(*METHODS, "HEAD"),
        allow_headers=("*",),
        expose_headers=_EXPOSED,
    )
