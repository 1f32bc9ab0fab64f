"""Rest: JSON requests to a broker's REST, over one connection that stays open."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from http.client import HTTPConnection
    from socket import socket

TIMEOUT_S = 30.0


class RestError(RuntimeError):
    """The broker refuses a request; `error_code` is one of docs/rest.md."""

    __module__ = "ottla"  # as users import it, for tracebacks

    def __init__(self, error_code: int, message: str) -> None:
        super().__init__(message)
        self.error_code = error_code


class Rest:
    """Threads take turns."""

    def __init__(
        self,
        url: str,
        host: str | None = None,
        login: tuple[str, str] | None = None,
        ca: str | os.PathLike[str] | None = None,
    ) -> None:
        """`host`: REST accepts other host names only with admin.allowed.hosts."""
        self._url = url
        self._headers = {} if host is None else {"host": host}
        if login is not None:
            from base64 import b64encode

            self._headers["authorization"] = f"Basic {b64encode(':'.join(login).encode()).decode()}"
        self._ca = ca
        self._connection: HTTPConnection | None = None
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Connects; the broker imports its HTTP server meanwhile, which takes half a second."""
        with self._lock:
            self._connected().connect()

    def get(self, *path: str, **query: object) -> Any:
        return self._request("GET", path, query=query)

    def items(self, *path: str, **query: object) -> list[Any]:
        """The `data` of a list."""
        found: list[Any] = self.get(*path, **query)["data"]
        return found

    def post(self, *path: str, body: object) -> Any:
        return self._request("POST", path, body)

    def put(self, *path: str, body: object) -> None:
        self._request("PUT", path, body)

    def delete(self, *path: str) -> None:
        self._request("DELETE", path)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    def _request(
        self,
        method: str,
        path: tuple[str, ...],
        body: object = None,
        query: Mapping[str, object] | None = None,
    ) -> Any:
        url = "".join(f"/{quote(part, safe=':')}" for part in path)
        if query:
            url += "?" + urlencode({k: v for k, v in query.items() if v is not None})
        sent = None if body is None else json.dumps(body).encode()
        with self._lock:
            status, content = self._response(method, url, sent)
        received: Any = json.loads(content) if content else None
        if status >= 400:
            raise RestError(received["error_code"], received["message"])
        return received

    def _connected(self) -> HTTPConnection:
        if self._connection is None:
            self._connection = self._made()
        return self._connection

    def _made(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        scheme, _, address = self._url.partition("://")
        if scheme == "http":
            return HTTPConnection(address, timeout=TIMEOUT_S)
        import ssl

        context = ssl.create_default_context(cafile=self._ca)
        return HTTPSConnection(address, timeout=TIMEOUT_S, context=context)

    def _response(self, method: str, url: str, body: bytes | None) -> tuple[int, bytes]:
        connection = self._connected()
        if connection.sock is not None and not _is_open(connection.sock):
            connection.close()
        # Between the check and the request the broker may still close it; a POST that it has
        # handled must not be repeated.
        repeats = connection.sock is not None and method != "POST"
        headers = self._headers | ({} if body is None else {"content-type": "application/json"})
        while True:
            try:
                connection.request(method, url, body, headers)
                response = connection.getresponse()
                return response.status, response.read()
            except ConnectionError:
                connection.close()
                if not repeats:
                    raise
                repeats = False
            except BaseException:
                connection.close()
                raise


def _is_open(idle: socket) -> bool:
    """The broker closes idle connections, also when its clock is advanced."""
    idle.setblocking(False)
    try:
        idle.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        pass
    finally:
        idle.settimeout(TIMEOUT_S)
    return False
