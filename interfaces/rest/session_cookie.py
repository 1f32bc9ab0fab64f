"""The cookie with the id of a session."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import HTTPConnection
from starlette.responses import Response


class SessionCookie(NamedTuple):
    name: str
    #: Over TLS only.
    secure: bool

    @classmethod
    def of(cls, request: HTTPConnection) -> SessionCookie:
        secure = request.scope["scheme"] == "https"
        # Browsers send cookies to all ports of a host: brokers on one host need other names.
        _, _, port = request.headers.get("host", "").rpartition(":")
        name = f"ottla_session_{port}" if port.isdecimal() else "ottla_session"
        # With this prefix no page without TLS, and of no other host, can set it.
        return cls(f"__Host-{name}" if secure else name, secure)

    def id_in(self, request: HTTPConnection) -> str | None:
        return request.cookies.get(self.name)

    def set(self, response: Response, session_id: str) -> None:
        """Until the browser is closed. No script can read it, and no other site's page sends it."""
        response.set_cookie(
            self.name, session_id, httponly=True, secure=self.secure, samesite="strict"
        )

    def remove(self, response: Response) -> None:
        response.delete_cookie(self.name, httponly=True, secure=self.secure, samesite="strict")
