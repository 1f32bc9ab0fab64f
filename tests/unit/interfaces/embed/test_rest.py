from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from interfaces.embed import BrokerNotStarted, RestError
from interfaces.embed.rest import Rest


def response(status: str, body: bytes) -> bytes:
    return b"HTTP/1.1 %b\r\ncontent-length: %d\r\n\r\n%b" % (status.encode(), len(body), body)


OK = response("200 OK", b'{"data": [7]}')
REFUSED = response("404 Not Found", b'{"error_code": 40403, "message": "There is no topic x"}')


@contextmanager
def server(
    connections: Sequence[Sequence[bytes]], closed: threading.Event | None = None
) -> Iterator[tuple[Rest, list[bytes]]]:
    """Each connection gets these responses, one for each request, and is closed."""
    requests: list[bytes] = []

    def serve() -> None:
        for responses in connections:
            connection, _ = listening.accept()
            with connection:
                for response in responses:
                    requests.append(connection.recv(65536))
                    connection.sendall(response)
            if closed is not None:
                closed.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        rest = Rest(f"http://127.0.0.1:{listening.getsockname()[1]}")
        yield rest, requests
        rest.close()
        thread.join(10)


def test_requests_share_a_connection() -> None:
    with server([[OK, OK]]) as (rest, requests):
        assert rest.items("topics") == rest.items("groups", "a/b", limit=1, cursor=None) == [7]
    assert requests[0].startswith(b"GET /topics HTTP/1.1\r\n")
    assert requests[1].startswith(b"GET /groups/a%2Fb?limit=1 HTTP/1.1\r\n")


def test_a_connection_that_the_broker_has_closed_is_opened_again() -> None:
    with server([[OK], [OK]]) as (rest, _):
        assert rest.items("topics") == rest.items("topics") == [7]


def test_a_post_that_the_broker_may_have_handled_is_not_repeated() -> None:
    with server([[OK, b""], [OK]]) as (rest, requests):
        rest.items("topics")
        with pytest.raises(ConnectionError):
            rest.post("topics", "x", "records:batch", body={})
        assert len(requests) == 2
        rest.items("topics")


def test_a_post_finds_an_idle_connection_closed_and_opens_another() -> None:
    closed = threading.Event()
    with server([[OK], [OK]], closed) as (rest, requests):
        rest.items("topics")
        assert closed.wait(10)
        assert rest.post("topics", body={}) == {"data": [7]}
    assert len(requests) == 2


def test_a_new_connection_without_a_response_is_an_error() -> None:
    with server([[b""]]) as (rest, _), pytest.raises(ConnectionError):
        rest.items("topics")


def test_a_refusal_has_the_code_and_the_message_of_the_broker() -> None:
    words = "There is no topic x"
    with server([[REFUSED]]) as (rest, _), pytest.raises(RestError, match=words) as refused:
        rest.delete("topics", "x")
    assert refused.value.error_code == 40403


def test_a_traceback_shows_the_name_that_users_import() -> None:
    assert RestError.__module__ == BrokerNotStarted.__module__ == "ottla"
