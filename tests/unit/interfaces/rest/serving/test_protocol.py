"""A connection that is lost while its request waits."""

from __future__ import annotations

import asyncio

import pytest

from interfaces.rest.serving import http
from interfaces.rest.serving.protocol import BoundedProtocol
from tests.fakes.admin import FakeAdmin, app_of
from tests.fakes.http_users import basic
from tests.fakes.passwords import SlowHashing, Waiting
from tests.fakes.sasl import PASSWORD, USER
from tests.unit.interfaces.rest.serving.test_http import HEALTHZ, play


def test_a_client_that_leaves_does_not_wait_for_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost = asyncio.Event()

    class Watched(BoundedProtocol):
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            lost.set()

    monkeypatch.setattr(http, "create_app", app_of)
    monkeypatch.setattr(http, "BoundedProtocol", Watched)
    settings = {"connection_failed_authentication_delay_ms": "0", "admin_authentication": "users"}
    fake, waiting = FakeAdmin(**settings), asyncio.Queue[Waiting]()
    fake.fake.broker.security.authentication.hashing = SlowHashing(waiting.put_nowait)
    credential = basic(USER, PASSWORD)["authorization"].encode()

    async def story(address: tuple[str, int]) -> None:
        _, writer = await asyncio.open_connection(*address)
        writer.write(HEALTHZ.replace(b"/healthz", b"/topics").removesuffix(b"\r\n"))
        writer.write(b"authorization: " + credential + b"\r\n\r\n")
        client, pending = await waiting.get()
        assert (client.address, client.closing) == ("127.0.0.1", False)
        writer.close()
        await lost.wait()
        assert client.closing
        pending.resolve(None)

    play(story, fake)
