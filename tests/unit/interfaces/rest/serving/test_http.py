"""The HTTP server on a loop of its own: timeouts, limits and how it stops."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn
import uvloop
from uvicorn.server import ServerState

from interfaces.rest.serving import gate, http, protocol
from interfaces.rest.serving.http import UvicornServer
from interfaces.rest.serving.protocol import BoundedProtocol
from interfaces.rest.serving.server import AdminServer
from interfaces.sockets import listen
from tests.fakes.admin import FakeAdmin, app_of

HEALTHZ = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
CLOSE = b"\r\nconnection: close\r\n\r\n"
HEAD = b"POST /topics HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
Story = Callable[[tuple[str, int]], Coroutine[Any, Any, None]]


@pytest.fixture(autouse=True)
def shared_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "create_app", app_of)


@pytest.fixture
def admin(admin: FakeAdmin) -> FakeAdmin:
    """With the topic `t`."""
    admin.fake.topic("t")
    return admin


@asynccontextmanager
async def serving(fake: FakeAdmin) -> AsyncIterator[tuple[str, int]]:
    """The server stops at the end of the block."""
    server = AdminServer(lambda hosts: UvicornServer(fake.admin, hosts), fake.admin.events)
    try:
        yield server.open(listen("127.0.0.1", 0))
    finally:
        drained = await server.drain(60)  # the loop would not end with an open server
    assert drained


def play(
    story: Story,
    fake: FakeAdmin | None = None,
    loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> None:
    async def played() -> None:
        async with serving(fake or FakeAdmin()) as address:
            await story(address)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(played())


async def received(address: tuple[str, int], *pieces: bytes) -> bytes:
    """Everything until the server ends the connection."""
    reader, writer = await asyncio.open_connection(*address)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
    responses = await reader.read()
    writer.close()
    return responses


def responses_to(*pieces: bytes, fake: FakeAdmin | None = None) -> bytes:
    found = b""

    async def story(address: tuple[str, int]) -> None:
        nonlocal found
        found = await received(address, *pieces)

    play(story, fake)
    return found


@pytest.mark.parametrize(
    "head, responses",
    [
        (b"", 0),
        (b"GET /topics HTTP/1.1\r\nhost: loc", 0),
        (HEALTHZ * 2, 2),
    ],
)
def test_a_connection_that_sends_no_further_request_is_closed(
    head: bytes, responses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "IDLE_S", 0.01)
    assert responses_to(head).count(b"200 OK") == responses


def test_a_connection_over_the_limit_is_closed() -> None:
    async def story(address: tuple[str, int]) -> None:
        opened = [await asyncio.open_connection(*address) for _ in range(2)]
        for reader, writer in opened:
            writer.write(HEALTHZ)
            assert b" 200 " in await reader.readuntil(b"}")
        with suppress(ConnectionError):
            assert await received(address, HEALTHZ) == b""
        for reader, writer in opened:
            writer.write(HEALTHZ)
            assert b" 200 " in await reader.readuntil(b"}")
            writer.close()

    play(story, FakeAdmin(admin_max_connections="2"))


def test_pipelined_requests_get_their_responses_in_order(admin: FakeAdmin) -> None:
    request = b"%b %b HTTP/1.1\r\nhost: localhost\r\nx-correlation-id: %d\r\n\r\n"
    responses = responses_to(
        request % (b"HEAD", b"/healthz", 1),
        request % (b"HEAD", b"/topics/t/records:tail", 2),
        request % (b"GET", b"/topics/none", 3),
        b"GET /healthz HTTP/1.0\r\n\r\n",  # closes the connection and needs no host
        fake=admin,
    )
    ids = [line for line in responses.split(b"\r\n") if line.startswith(b"x-correlation-id: ")]
    assert ids[:3] == [b"x-correlation-id: %d" % number for number in (1, 2, 3)]
    assert (responses.count(b"HTTP/1.1 200"), responses.count(b"HTTP/1.1 404")) == (3, 1)
    assert responses.endswith(b'{"status":"ok"}')


def test_a_missing_body_of_a_stream_ends_it_without_a_failure(
    admin: FakeAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "BODY_TIMEOUT_S", 0.01)
    tail = b"GET /topics/t/records:tail HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n"
    assert b" 200 " in responses_to(tail, fake=admin).partition(b"\r\n")[0]
    assert admin.fake.events.of("request_failed") == []


def test_a_client_that_disconnects_within_its_body_is_no_error() -> None:
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


@pytest.mark.parametrize("loop", LOOPS)
def test_a_client_that_does_not_read_is_disconnected(
    loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 40
    monkeypatch.setattr(protocol, "STALL_S", 0.01)
    fake = FakeAdmin()

    async def story(address: tuple[str, int]) -> None:
        silent = await connect_and_send(address, request)
        while not fake.fake.events.of("connection_closed"):
            await asyncio.sleep(0.001)
        silent.close()

    play(story, fake, LOOPS[loop])
    [closed] = fake.fake.events.of("connection_closed")
    assert closed["correlation_id"] and closed["api"] == "GET /openapi.json"


class BufferedTransport(asyncio.Transport):
    """Its number of unread bytes is set by the test."""

    def __init__(self) -> None:
        super().__init__()
        self.unread_bytes = 0
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.unread_bytes

    def abort(self) -> None:
        self.aborted = True


def test_a_client_that_reads_slowly_stays_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls the timer of one connection by hand."""
    config = uvicorn.Config(None, log_config=None)
    transport = BufferedTransport()

    async def story() -> None:
        stalling = BoundedProtocol(
            FakeAdmin().admin, asyncio.Event(), config=config, server_state=ServerState(),
            app_state={},
        )  # fmt: skip
        stalling.transport = transport
        transport.unread_bytes = 100
        stalling._check_progress(101)
        assert not transport.aborted
        transport.unread_bytes = 99
        stalling._check_progress(100)
        assert not transport.aborted
        stalling._check_progress(99)
        assert transport.aborted

    asyncio.run(story())


async def connect_and_send(address: tuple[str, int], request: bytes) -> socket.socket:
    silent = socket.socket()
    silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    silent.setblocking(False)
    await asyncio.get_running_loop().sock_connect(silent, address)
    await asyncio.get_running_loop().sock_sendall(silent, request)
    return silent


def test_a_malformed_body_after_the_response_gets_no_second_one() -> None:
    async def story(address: tuple[str, int]) -> None:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(HEAD.replace(b"/topics", b"/nowhere") + b"transfer-encoding: chunked\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 404 " in head
        writer.write(b"no chunk\r\n")
        assert b"HTTP/1.1" not in await reader.read()
        writer.close()

    play(story)


@pytest.mark.parametrize(
    "sent, status, reason",
    [
        (b"BLAH\r\n\r\n", 400, b"illegal request line"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, b"Host"),
        (b"GET / HTTP/1.1\r\nx: ".ljust(http.MAX_HEAD_BYTES + 1, b"a"), 400, b"too long"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nno chunk\r\n", 400, b"illegal chunk header"),
        (HEAD + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n" + HEALTHZ,
         400, b""),
        (HEAD + b"content-length: 9\r\n\r\n{", 408, b"body"),
        (HEAD.replace(b"application/json", b"text/plain")
         + b"content-length: 9\r\nexpect: 100-continue\r\n\r\n" + HEALTHZ, 415, b""),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_read_gets_one_response_and_ends_its_connection(
    sent: bytes, status: int, reason: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "BODY_TIMEOUT_S", 0.01)
    head, _, body = responses_to(sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"connection: close" in head.lower()
    assert reason in body
    assert b"HTTP/1.1" not in body


async def streamed(
    admin: FakeAdmin, address: tuple[str, int], body: bytes
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Starts a stream of records; the broker's fake loop runs until the first report."""
    reader, writer = await asyncio.open_connection(*address)
    head = HEAD.replace(b"/topics", b"/topics/t/records") + b"transfer-encoding: chunked\r\n\r\n"
    writer.write(head + b"%x\r\n%b\r\n" % (len(body), body))
    report = asyncio.ensure_future(reader.readuntil(b'"error_code":'))
    while not report.done():
        admin.fake.run()
        await asyncio.sleep(0)
    await report
    return reader, writer


def test_an_idle_stream_ends_with_408(admin: FakeAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BODY_TIMEOUT_S", 0.1)
    monkeypatch.setattr(protocol, "IDLE_S", 0.01)

    async def story(address: tuple[str, int]) -> None:
        for body, expected in (
            (b'{"value":"x"}{"val', b'{"error_code":408'),
            (b'{"val', b"the rest of the body does not come"),
        ):
            reader, writer = await streamed(admin, address, body)
            assert expected in await reader.read()
            writer.close()

    play(story, admin)


def test_an_idle_stream_does_not_delay_a_stop(admin: FakeAdmin) -> None:
    async def story() -> None:
        async with serving(admin) as address:
            reader, writer = await streamed(admin, address, b'{"value":"x"}')
        assert b'{"error_code":50303' in await reader.read()
        writer.close()

    asyncio.run(story())


def test_requests_in_flight_are_ended(admin: FakeAdmin) -> None:
    async def story() -> None:
        server = AdminServer(lambda hosts: UvicornServer(admin.admin, hosts), admin.admin.events)
        address = server.open(listen("127.0.0.1", 0))
        assert not await server.end_requests()
        reader, writer = await asyncio.open_connection(*address)
        writer.write(HEAD + b"content-length: 100\r\n\r\n{")
        while not await server.end_requests():
            await asyncio.sleep(0)
        ended = await asyncio.wait_for(reader.read(), 30)
        assert b'{"error_code":50303,"message":"a snapshot is being restored' in ended
        writer.close()
        assert not await server.end_requests()
        assert b"200 OK" in await received(address, HEALTHZ.replace(b"\r\n\r\n", CLOSE))
        assert await server.drain(60)

    asyncio.run(story())


@pytest.mark.parametrize("loop", LOOPS)
def test_an_active_stream_does_not_delay_a_stop(admin: FakeAdmin, loop: str) -> None:
    partition = admin.fake.partition("t")
    objects = b'{"value":"x"}' * 50

    async def send(writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while True:
                writer.write(b"%x\r\n%b\r\n" % (len(objects), objects))
                await writer.drain()

    async def commit() -> None:
        while True:
            admin.fake.run()
            await asyncio.sleep(0)

    async def story() -> None:
        async with serving(admin) as address:
            reader, writer = await streamed(admin, address, objects)
            others = [asyncio.ensure_future(send(writer)), asyncio.ensure_future(commit())]
            reading = asyncio.ensure_future(lines_until_the_end(reader))
            while partition.high_watermark < 500:
                await asyncio.sleep(0)
        # The connection is reset where data is unread, so the last reports may be lost.
        lines = [each for each in await reading if b'{"error_code":200' in each]
        assert 0 < len(lines) <= partition.high_watermark
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        writer.close()

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(story())


async def lines_until_the_end(reader: asyncio.StreamReader) -> list[bytes]:
    received = b""
    with suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            received += piece
    return [line for line in received.splitlines() if line.startswith(b"{")]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_client_that_is_refused_while_it_sends_can_read_why(loop: str) -> None:
    fake = FakeAdmin()

    async def story(address: tuple[str, int]) -> None:
        reader, writer = await asyncio.open_connection(*address)
        size = 10 * fake.admin.broker.config.admin_request_max_bytes
        writer.write(HEAD + b"content-length: %d\r\n\r\n" % size)
        for _ in range(10):
            writer.write(bytes(size // 10))
            await writer.drain()
        writer.write(HEALTHZ.replace(b"localhost", b"localhost\r\nconnection: close"))
        responses = await reader.read()
        assert responses.startswith(b"HTTP/1.1 413 ")
        assert b"HTTP/1.1 200 " in responses, "the rest of the body is read and dropped"
        writer.close()

    play(story, fake, LOOPS[loop])
