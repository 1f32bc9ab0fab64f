"""A relay before an HTTP server, on a port of its own, that fails when a test says so."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

TIMEOUT_S = 20
_HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive"}


class Response(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


#: What happens to a response of the server.
Fault = Callable[["_Handler", Response], None]


class HttpRelay:
    """A fault is armed for so many requests, or until `pass_all`."""

    def __init__(self, server_port: int) -> None:
        self.server_port = server_port
        #: Of all requests: method and path.
        self.requests: list[str] = []
        self.passes = threading.Event()
        self._changing = threading.Lock()
        self._fault: Fault | None = None
        self._is_before = False
        self._only = ""
        self._times = 0.0
        self._listening: _Server | None = None
        self.port = 0
        self.accept()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # ---- faults

    def refuse(self) -> None:
        """All connections, from now on."""
        if self._listening is not None:
            listening, self._listening = self._listening, None
            listening.shutdown()
            listening.server_close()
            listening.cut()

    def accept(self) -> None:
        if self._listening is None:
            self._listening = _Server(self, self.port)
            self.port = self._listening.server_port
            threading.Thread(
                target=self._listening.serve_forever, args=(0.01,), daemon=True
            ).start()

    def respond(self, status: int, code: str, times: float = float("inf"), only: str = "") -> None:
        """An error of S3, instead of the server; to `only` one method."""
        body = f"<Error><Code>{code}</Code><Message>as armed</Message></Error>".encode()
        error = Response(status, [("Content-Length", str(len(body)))], body)
        self._arm(lambda handler, _: handler.send(error), times, True, only)

    def cut(self, times: float = float("inf")) -> None:
        """In the middle of a body; of a response without one after its first line."""
        self._arm(_Handler.send_half, times)

    def lose(self, times: float = float("inf")) -> None:
        """The response: the server has done what was requested."""
        self._arm(lambda handler, _: None, times)

    def hold(self, times: float = float("inf")) -> None:
        """Silence instead of a response, until `pass_all`."""
        self._arm(lambda handler, _: handler.wait(), times)

    def delay(self, pause_s: float) -> None:
        """Each response."""
        self._arm(lambda handler, response: handler.send_late(response, pause_s), float("inf"))

    def drip(self, pause_s: float, times: float = float("inf")) -> None:
        """A byte of the body, a pause, and so on."""
        self._arm(lambda handler, response: handler.drip(response, pause_s), times)

    def _arm(self, fault: Fault, times: float, is_before: bool = False, only: str = "") -> None:
        with self._changing:
            self._fault, self._times, self._is_before, self._only = fault, times, is_before, only
            self.passes.clear()

    def pass_all(self) -> None:
        with self._changing:
            self._fault = None
            self.passes.set()

    def close(self) -> None:
        self.pass_all()
        self.refuse()

    # ---- in threads

    def taken(self, method: str, path: str) -> tuple[Fault | None, bool]:
        """The fault of a request, and whether the server does not get it."""
        with self._changing:
            self.requests.append(f"{method} {path}")
            if self._fault is None or self._times <= 0 or self._only not in ("", method):
                return None, False
            self._times -= 1
            return self._fault, self._is_before


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, relay: HttpRelay, port: int) -> None:
        self.relay = relay
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that give up are what tests are about."""

    def cut(self) -> None:
        for one in list(self._connections):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(1 << 16)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.handle_expect_100()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault, is_alone = self.server.relay.taken(self.command, self.path)
        response = Response(0, [], b"") if is_alone else self._response(body)
        if fault is None:
            self.send(response)
        else:
            self.close_connection = True
            fault(self, response)

    def _response(self, body: bytes) -> Response:
        """As the client would get it: what is signed stays as it is."""
        server = http.client.HTTPConnection("127.0.0.1", self.server.relay.server_port, TIMEOUT_S)
        server.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            server.putheader(name, value)
        server.endheaders(body)
        response = server.getresponse()
        content = response.read()
        server.close()
        headers = [one for one in response.getheaders() if one[0].lower() not in _HOP_BY_HOP]
        if not any(name.lower() == "content-length" for name, _ in headers):
            headers.append(("Content-Length", str(len(content))))
        return Response(response.status, headers, content)

    def send(self, response: Response) -> None:
        self._send_head(response)
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def send_half(self, response: Response) -> None:
        if response.body:
            self._send_head(response)
            self.wfile.write(response.body[: len(response.body) // 2])
        else:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")

    def send_late(self, response: Response, pause_s: float) -> None:
        self.server.relay.passes.wait(pause_s)
        self.send(response)

    def drip(self, response: Response, pause_s: float) -> None:
        self._send_head(response)
        for byte in response.body:
            self.wfile.write(bytes([byte]))
            if self.server.relay.passes.wait(pause_s):
                return

    def wait(self) -> None:
        assert self.server.relay.passes.wait(TIMEOUT_S), "the relay holds a response"

    def _send_head(self, response: Response) -> None:
        self.send_response_only(response.status)
        for name, value in response.headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Tests print nothing."""
