"""What is no HTTP request that can be read: its answer and its line in the log."""

from __future__ import annotations

from http import HTTPStatus

import h11

from application.ports.event_log import EventLog
from application.ports.request_log import RequestLog
from interfaces.rest.answers import JsonAnswer, error_body
from interfaces.rest.serving.correlation import HEADER, correlation_id_of


class Unreadable:
    """Made where h11 has raised, or, with no `fault`, uvicorn has refused."""

    def __init__(self, words: str, fault: BaseException | None) -> None:
        self.status = HTTPStatus.BAD_REQUEST
        self.message = words
        if isinstance(fault, h11.RemoteProtocolError):
            self.message = f"{words} ({fault})"
            self.status = HTTPStatus(fault.error_status_hint)

    def answer(self, correlation_id: str) -> bytes:
        """With which the connection ends."""
        body = JsonAnswer(error_body(self.status, self.message, correlation_id)).body
        lines = [
            f"HTTP/1.1 {self.status} {self.status.phrase}",
            "content-type: application/json",
            f"content-length: {len(body)}",
            f"{HEADER}: {correlation_id}",
            "connection: close",
        ]
        return "\r\n".join([*lines, "", ""]).encode() + bytes(body)

    def log(self, request_log: RequestLog, events: EventLog, peer: tuple[str, int] | None) -> str:
        """The correlation id that it gets: it has told none."""
        correlation_id = correlation_id_of(None)
        if request_log.includes(0, True):
            events.warning(
                "request",
                correlation_id=correlation_id,
                peer="{}:{}".format(*(peer or ("", ""))),
                listener="admin",
                api="(unreadable)",
                status=int(self.status),
                error_codes=[int(self.status)],
                message=self.message,
            )
        return correlation_id
