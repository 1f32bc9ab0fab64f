"""The HTTP server on a loop of its own: what takes too long, and what is too much."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest
import uvloop

from interfaces.rest.serving import gate, http, stalls
from interfaces.rest.serving.http import UvicornServer
from interfaces.rest.serving.server import AdminServer
from interfaces.sockets import listen
from tests.fakes.admin import FakeAdmin
from tests.fakes.batches import record_batch

HEAD = b"POST /topics HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
NOT_READ = "connection_closed"
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
Story = Callable[[tuple[str, int]], Coroutine[Any, Any, None]]


def play(story: Story, fake: FakeAdmin | None = None) -> None:
    admin = (fake or FakeAdmin()).admin

    async def played() -> None:
        server = AdminServer(lambda hosts: UvicornServer(admin, hosts), admin.events)
        await story(server.open(listen("127.0.0.1", 0)))
        assert await server.drain(30)

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
    monkeypatch.setattr(stalls, "STALL_S", 0.05)
    fake = FakeAdmin()

    async def story(address: tuple[str, int]) -> None:
        deaf = await asked_and_left_there(address, ask)
        while not fake.fake.events.of(NOT_READ):
            await asyncio.sleep(0.001)
        deaf.close()

    play(story, fake)


def test_so_is_who_does_not_read_an_answer_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalls, "STALL_S", 0.05)
    fake = FakeAdmin()
    fake.fake.topic("t")
    for _ in range(8):
        fake.fake.appended(record_batch(["x" * 900_000]))

    async def story(address: tuple[str, int]) -> None:
        ask = (
            b"GET /topics/t/records:download HTTP/1.1\r\nhost: localhost\r\n"
            b"x-correlation-id: deaf\r\n\r\n"
        )
        deaf = await asked_and_left_there(address, ask)
        while not fake.fake.events.of("request"):
            fake.fake.scheduler.advance(5)
            await asyncio.sleep(0.001)
        deaf.close()

    play(story, fake)
    [warned] = fake.fake.events.of(NOT_READ)
    assert warned["correlation_id"] == "deaf"
    assert warned["api"] == "GET /topics/{topic_name}/records:download"


async def asked_and_left_there(address: tuple[str, int], ask: bytes) -> socket.socket:
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.setblocking(False)
    await asyncio.get_running_loop().sock_connect(deaf, address)
    await asyncio.get_running_loop().sock_sendall(deaf, ask)
    return deaf


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
        address = server.open(listen("127.0.0.1", 0))
        reader, writer = await streamed(fake, address, b'{"value":"x"}')
        assert await server.drain(60)
        assert b'{"error_code":50303' in await reader.read()
        writer.close()

    asyncio.run(played())


@pytest.mark.parametrize("loop", LOOPS)
def test_nor_does_one_whose_data_keeps_coming(loop: str) -> None:
    fake = FakeAdmin()
    fake.fake.topic("t")
    objects = b'{"value":"x"}' * 50

    async def send(writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while True:
                writer.write(b"%x\r\n%b\r\n" % (len(objects), objects))
                await writer.drain()

    async def commit() -> None:
        while True:
            fake.fake.run()
            await asyncio.sleep(0)

    async def played() -> None:
        server = AdminServer(lambda hosts: UvicornServer(fake.admin, hosts), fake.admin.events)
        address = server.open(listen("127.0.0.1", 0))
        reader, writer = await streamed(fake, address, objects)
        others = [asyncio.ensure_future(send(writer)), asyncio.ensure_future(commit())]
        reading = asyncio.ensure_future(lines_until_the_end(reader))
        while fake.fake.partition("t").high_watermark < 500:
            await asyncio.sleep(0)
        assert await server.drain(60)
        lines = await reading
        assert b'{"error_code":50303' in lines[-1]
        # One report each until then, and each is kept.
        assert len(lines) - 1 <= fake.fake.partition("t").high_watermark
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        writer.close()

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(played())


async def lines_until_the_end(reader: asyncio.StreamReader) -> list[bytes]:
    received = b""
    with suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            received += piece
    return [line for line in received.splitlines() if line.startswith(b"{")]


@pytest.mark.parametrize("loop", LOOPS)
def test_who_is_refused_while_it_sends_can_read_why(loop: str) -> None:
    async def played() -> None:
        admin = FakeAdmin().admin
        server = AdminServer(lambda hosts: UvicornServer(admin, hosts), admin.events)
        reader, writer = await asyncio.open_connection(*server.open(listen("127.0.0.1", 0)))
        size = 10 * admin.broker.config.admin_request_max_bytes
        writer.write(HEAD + b"content-length: %d\r\n\r\n" % size)
        for _ in range(10):
            writer.write(bytes(size // 10))
            await writer.drain()
        assert b" 413 " in (await reader.read()).partition(b"\r\n")[0]
        writer.close()
        assert await server.drain(5)

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(played())
