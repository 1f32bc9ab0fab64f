"""The HTTP server on a loop of its own: what takes too long, and what is too much."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from interfaces.rest import gate, http
from interfaces.rest.http import UvicornServer
from interfaces.rest.server import AdminServer
from tests.fakes.admin import FakeAdmin

HEAD = b"POST /topics HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
Story = Callable[[tuple[str, int]], Coroutine[Any, Any, None]]


def play(story: Story, fake: FakeAdmin | None = None) -> None:
    admin = (fake or FakeAdmin()).admin

    async def played() -> None:
        server = AdminServer(lambda hosts: UvicornServer(admin, hosts), admin.events)
        await story(server.open("127.0.0.1", 0))
        assert await server.drain(5)

    asyncio.run(played())


async def answered(address: tuple[str, int], *pieces: bytes) -> bytes:
    """All that comes until the server ends the connection."""
    reader, writer = await asyncio.open_connection(*address)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("head", [b"", b"GET /topics HTTP/1.1\r\nhost: loc"])
def test_a_connection_that_asks_nothing_or_half_is_closed(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "ARRIVAL_S", 0.01)

    async def story(address: tuple[str, int]) -> None:
        assert await answered(address, head) == b""

    play(story)


def test_so_is_one_that_is_silent_after_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "ARRIVAL_S", 0.01)

    async def story(address: tuple[str, int]) -> None:
        asked = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
        assert (await answered(address, asked, asked)).count(b"200 OK") == 2

    play(story)


def test_half_a_body_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BODY_PATIENCE_S", 0.01)

    async def story(address: tuple[str, int]) -> None:
        answer = await answered(address, HEAD + b"content-length: 9\r\n\r\n{")
        assert b" 408 " in answer.partition(b"\r\n")[0]

    play(story)


def test_a_client_that_goes_in_between_is_nobodys_fault() -> None:
    fake = FakeAdmin()
    lines = fake.fake.events.lines

    async def story(address: tuple[str, int]) -> None:
        _, writer = await asyncio.open_connection(*address)
        writer.write(HEAD + b"content-length: 9\r\n\r\n{")
        writer.close()
        await writer.wait_closed()
        while not lines:
            await asyncio.sleep(0)

    play(story, fake)
    [(_, event, fields)] = lines
    assert (event, fields["status"]) == ("request", 400)


def test_who_does_not_read_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 40
    monkeypatch.setattr(http, "STALL_S", 0.05)
    fake = FakeAdmin()
    lines = fake.fake.events.lines

    async def story(address: tuple[str, int]) -> None:
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.setblocking(False)
        await asyncio.get_running_loop().sock_connect(deaf, address)
        await asyncio.get_running_loop().sock_sendall(deaf, ask)
        while not any("does not read" in event for _, event, _ in lines):
            await asyncio.sleep(0.001)
        deaf.close()

    play(story, fake)


def test_a_body_that_breaks_behind_its_answer_gets_no_second_one() -> None:
    async def story(address: tuple[str, int]) -> None:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(HEAD.replace(b"/topics", b"/nowhere") + b"transfer-encoding: chunked\r\n\r\n")
        begun = await reader.readuntil(b"\r\n\r\n")
        assert b" 404 " in begun
        writer.write(b"no chunk\r\n")
        assert b"HTTP/1.1" not in await reader.read()
        writer.close()

    play(story)


@pytest.mark.parametrize(
    "sent, status, words",
    [
        (b"BLAH\r\n\r\n", 400, "illegal request line"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, "Host"),
        (b"GET / HTTP/1.1\r\nx: ".ljust(http.HEADERS_BYTES + 1, b"a"), 431, "too long"),
    ],
)
def test_what_cannot_be_read_is_a_line_in_the_log(sent: bytes, status: int, words: str) -> None:
    fake = FakeAdmin()

    async def story(address: tuple[str, int]) -> None:
        head, _, body = (await answered(address, sent)).partition(b"\r\n\r\n")
        told = json.loads(body)
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert told["error_code"] == status and words in told["message"]
        [(level, event, fields)] = fake.fake.events.lines
        assert (level, event, fields["error_codes"]) == ("warning", "request", [status])
        assert fields["correlation_id"] == told["correlation_id"]
        assert fields["peer"].startswith("127.0.0.1:")

    play(story, fake)


def test_a_request_whose_body_breaks_keeps_its_correlation_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = FakeAdmin()
    asked = asyncio.Event()
    receive = gate.Gate._received

    def received(*given: Any) -> Any:
        asked.set()
        return receive(*given)

    monkeypatch.setattr(gate.Gate, "_received", received)

    async def story(address: tuple[str, int]) -> None:
        reader, writer = await asyncio.open_connection(*address)
        told = b"x-correlation-id: mine\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{ "
        writer.write(HEAD + told)
        await asyncio.wait_for(asked.wait(), 20)
        writer.write(b"\r\nno chunk\r\n")
        _, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert json.loads(body)["correlation_id"] == "mine"
        writer.close()

    play(story, fake)
    [(_, event, fields)] = fake.fake.events.lines
    assert (event, fields["correlation_id"], fields["status"]) == ("request", "mine", 400)


def test_a_body_with_two_lengths_is_refused_and_ends_the_connection() -> None:
    async def story(address: tuple[str, int]) -> None:
        two = b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
        answer = await answered(
            address, HEAD + two + b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
        )
        assert b" 400 " in answer.partition(b"\r\n")[0]
        assert answer.count(b"HTTP/1.1") == 1

    play(story)


async def streamed(
    admin: FakeAdmin, address: tuple[str, int], body: bytes
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A stream of records has begun; the broker's own loop, a fake, runs until it is answered."""
    reader, writer = await asyncio.open_connection(*address)
    head = HEAD.replace(b"/topics", b"/topics/t/records") + b"transfer-encoding: chunked\r\n\r\n"
    writer.write(head + b"%x\r\n%b\r\n" % (len(body), body))
    answer = asyncio.ensure_future(reader.readuntil(b'"error_code":'))
    while not answer.done():
        admin.fake.run()
        await asyncio.sleep(0)
    await answer
    return reader, writer


def test_a_stream_that_idles_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BODY_PATIENCE_S", 0.5)
    monkeypatch.setattr(http, "ARRIVAL_S", 0.01)
    fake = FakeAdmin()
    fake.fake.topic("t")

    async def story(address: tuple[str, int]) -> None:
        reader, writer = await streamed(fake, address, b'{"value":"x"}{"val')
        assert b'{"error_code":408' in await reader.read()
        writer.close()
        reader, writer = await streamed(fake, address, b'{"val')
        assert b"the rest of the body does not come" in await reader.read()
        writer.close()

    play(story, fake)


def test_an_idle_stream_does_not_hold_up_the_end() -> None:
    fake = FakeAdmin()
    fake.fake.topic("t")

    async def played() -> None:
        server = AdminServer(lambda hosts: UvicornServer(fake.admin, hosts), fake.admin.events)
        address = server.open("127.0.0.1", 0)
        reader, writer = await streamed(fake, address, b'{"value":"x"}')
        assert await server.drain(60)
        assert b'{"error_code":50303' in await reader.read()
        writer.close()

    asyncio.run(played())
