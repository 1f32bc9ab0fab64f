"""The admin side with TLS, on a loop of its own."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop

from infrastructure.scheduler import AsyncioScheduler
from interfaces.connections.handshakes import Handshakes
from interfaces.rest.serving import http
from interfaces.rest.serving.http import UvicornServer
from interfaces.rest.serving.server import AdminServer
from interfaces.sockets import listen
from tests.fakes import certificates
from tests.fakes.admin import FakeAdmin, app_of
from tests.fakes.tls import Identity, authority, client_context

TOPICS = b"GET /topics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"


@pytest.fixture(autouse=True)
def shared_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "create_app", app_of)


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def play(request: pytest.FixtureRequest) -> Callable[[FakeAdmin, Any], None]:
    def play(fake: FakeAdmin, story: Any) -> None:
        async def played() -> None:
            scheduler = AsyncioScheduler(asyncio.get_running_loop())
            fake.admin.handshakes = Handshakes(fake.fake.config, scheduler)
            server = AdminServer(lambda hosts: UvicornServer(fake.admin, hosts), fake.admin.events)
            address = server.open(listen("127.0.0.1", 0))
            try:
                await story(address)
            finally:
                drained = await server.drain(60)  # the loop would not end with an open server
            assert drained

        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(played())

    return play


def _admin(tmp_path: Path, client_auth: ssl.VerifyMode = ssl.CERT_NONE, **more: str) -> FakeAdmin:
    admin = FakeAdmin(**more)
    admin.admin.tls = Identity(tmp_path, client_auth)
    return admin


async def _received(address: tuple[str, int], data: bytes, context: Any = None) -> bytes:
    name = None if context is None else "localhost"
    reader, writer = await asyncio.open_connection(*address, ssl=context, server_hostname=name)
    writer.write(data)
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def test_requests_are_served_over_tls(tmp_path: Path, play: Any) -> None:
    async def story(address: tuple[str, int]) -> None:
        response = await _received(address, TOPICS, client_context())
        assert response.startswith(b"HTTP/1.1 200 ")
        assert b'"self":"https://localhost/' in response

    play(_admin(tmp_path), story)


def test_a_client_without_tls_is_told_to_use_it(tmp_path: Path, play: Any) -> None:
    admin = _admin(tmp_path)

    async def story(address: tuple[str, int]) -> None:
        response = await _received(address, TOPICS)
        assert response.startswith(b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: TLS/1.2\r\n")
        assert response.endswith(b"\r\n\r\nThis port serves HTTPS: use https:// in the client\n")

    play(admin, story)
    (line,) = admin.fake.events.of("connection_closed")
    assert (line["reason"], line["listener"], line["peer"]) == ("not_tls", "admin", "127.0.0.1")


def test_a_probe_of_a_command_is_not_logged(tmp_path: Path, play: Any) -> None:
    admin = _admin(tmp_path)

    async def story(address: tuple[str, int]) -> None:
        response = await _received(address, TOPICS.replace(b"GET", b"HEAD"))
        assert response.startswith(b"HTTP/1.1 426 ")
        assert response.endswith(b"\r\n\r\n")

    play(admin, story)
    assert admin.fake.events.of("connection_closed") == []


def test_a_tls_client_without_tls_here_gets_an_alert(play: Any) -> None:
    admin = FakeAdmin()

    async def story(address: tuple[str, int]) -> None:
        with pytest.raises(ssl.SSLError, match="HANDSHAKE_FAILURE"):
            await _received(address, b"", client_context())

    play(admin, story)
    (line,) = admin.fake.events.of("connection_closed")
    assert (line["reason"], line["listener"]) == ("tls_handshake", "admin")
    assert "use http://" in str(line["hint"])


def test_a_handshake_that_does_not_end_is_closed(tmp_path: Path, play: Any) -> None:
    admin = _admin(tmp_path, ssl_handshake_timeout_ms="20", ssl_handshakes_max="1")

    async def story(address: tuple[str, int]) -> None:
        assert await _received(address, b"\x16") == b""
        admin.admin.handshakes.timeout_ms = 60_000
        assert (await _received(address, TOPICS, client_context())).startswith(b"HTTP/1.1 200")

    play(admin, story)
    assert [line["reason"] for line in admin.fake.events.of("connection_closed")] == [
        "tls_handshake_timeout"
    ]
    assert (admin.admin.handshakes.count, admin.admin.handshakes.waiting) == (0, 0)


def test_new_connections_have_the_newest_certificate(tmp_path: Path, play: Any) -> None:
    admin = _admin(tmp_path)
    other = certificates.authority("other")
    trusting = ssl.create_default_context(cadata=other.certificate_pem.decode())

    async def story(address: tuple[str, int]) -> None:
        with pytest.raises(ssl.SSLCertVerificationError):
            await _received(address, TOPICS, trusting)
        renewed = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        files = certificates.write(tmp_path, renewed=certificates.broker(other).pem)
        renewed.load_cert_chain(files["renewed"])
        admin.admin.tls.context = renewed  # type: ignore[union-attr, misc]
        assert (await _received(address, TOPICS, trusting)).startswith(b"HTTP/1.1 200")

    play(admin, story)


def test_a_client_certificate_is_a_user(tmp_path: Path, play: Any) -> None:
    admin = _admin(tmp_path, ssl.CERT_OPTIONAL, admin_authentication="users")
    context = client_context()
    files = certificates.write(tmp_path, client=certificates.client(authority(), "carol").pem)
    context.load_cert_chain(files["client"])

    async def story(address: tuple[str, int]) -> None:
        response = await _received(address, TOPICS, client_context())
        assert response.startswith(b"HTTP/1.1 401")
        assert (await _received(address, TOPICS, context)).startswith(b"HTTP/1.1 200")

    play(admin, story)
