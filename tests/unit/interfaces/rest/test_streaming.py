from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from application.ports.pending import Pending
from application.records.scan_worker import ScanPart
from application.security.http_sessions import LIFETIME_MS
from application.security.users import Deletion
from domain.errors import StorageFailed
from domain.security.access import Operation, ResourceType
from domain.security.acl import AclFilter
from domain.security.scram import ScramMechanism
from interfaces.rest.exchange import Exchange
from interfaces.rest.streaming import Streamed
from tests.fakes.admin import HOST, FakeAdmin
from tests.fakes.batches import record_batch
from tests.fakes.http_users import add_user, basic
from tests.fakes.sasl import PASSWORD, USER
from tests.fakes.secured import SecuredKafka, allowed
from tests.fakes.tokens import unsecured


class Client:
    """Receives a response, or disconnects."""

    def __init__(self, disconnects: bool = False) -> None:
        self.sent: list[Any] = []
        self.closed = 0
        self._disconnects = disconnects

    async def receive(self) -> Any:
        if not self._disconnects:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def close(self) -> None:
        self.closed += 1

    def get(self, pieces: AsyncGenerator[bytes, None]) -> None:
        async def story() -> None:
            scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/"}
            admin = FakeAdmin().admin
            scope["state"] = {
                "exchange": Exchange(
                    scope, "id", 1000, asyncio.Event(), admin.broker.authorizer, admin.refusals
                )
            }
            response = Streamed(pieces, "text/plain", close=self.close)
            await response(scope, self.receive, self.send)

        asyncio.run(story())

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def some(count: int) -> AsyncGenerator[bytes, None]:
    for number in range(count):
        yield b"%d," % number


async def endless() -> AsyncGenerator[bytes, None]:
    yield b"first,"
    await asyncio.Event().wait()


async def failing(error: Exception) -> AsyncGenerator[bytes, None]:
    yield b"first,"
    raise error


def test_a_stream_sends_all_pieces_and_is_closed() -> None:
    client = Client()
    client.get(some(3))
    assert (client.body, client.closed) == (b"0,1,2,", 1)
    assert client.sent[-1]["more_body"] is False
    assert not any(name == b"content-length" for name, _ in client.sent[0]["headers"])


def test_a_disconnected_client_ends_the_stream() -> None:
    client = Client(disconnects=True)
    client.get(endless())
    assert client.closed == 1


def test_a_storage_failure_leaves_the_response_incomplete() -> None:
    client = Client()
    client.get(failing(StorageFailed("the disk is broken")))
    assert client.closed == 1
    assert client.sent[-1]["more_body"], "it is not complete, so uvicorn closes the connection"


def test_an_unexpected_error_in_a_stream_is_raised() -> None:
    client = Client()
    with pytest.raises(ZeroDivisionError):
        client.get(failing(ZeroDivisionError()))
    assert client.closed == 1


# ---- until the login or a right of the client ends

Login = Callable[[FakeAdmin], dict[str, str]]


def _secured() -> FakeAdmin:
    """Whose user may read and write all topics; with the topic `t`."""
    kafka = SecuredKafka(
        *(
            allowed(operation, ResourceType.TOPIC, "*", principal=f"User:{USER}")
            for operation in (Operation.READ, Operation.WRITE)
        ),
        admin_authentication="users",
        connection_failed_authentication_delay_ms="0",
        sasl_enabled_mechanisms="OAUTHBEARER",
        sasl_oauthbearer_unsecured_tokens="true",
    )
    kafka.clock.advance(int(time.time() * 1000) - kafka.clock.now_ms())
    kafka.topic("t")
    add_user(kafka)
    return FakeAdmin(kafka)


class Stream:
    """A request whose body and response have no end; use it in `async with`."""

    def __init__(
        self, admin: FakeAdmin, path: str, headers: dict[str, str], method: str = "GET"
    ) -> None:
        self.admin = admin
        self.received = ""
        self.is_complete = False
        self._body: asyncio.Queue[Any] = asyncio.Queue()
        self.send = self._body.put_nowait
        if method == "GET":
            self.send({"type": "http.request", "body": b"", "more_body": False})
        scope = admin.scope(method, path, {"host": HOST} | headers, "")
        self._responding = asyncio.ensure_future(admin.gate(scope, self._body.get, self._sent))

    async def _sent(self, message: Any) -> None:
        self.received += message.get("body", b"").decode()
        self.is_complete |= not message.get("more_body", True)

    def upload(self, value: str) -> None:
        record = json.dumps({"value": {"type": "STRING", "data": value}}).encode()
        self.send({"type": "http.request", "body": record, "more_body": True})

    async def has(self, text: str) -> None:
        await self._until(lambda: text in self.received)

    async def end(self) -> str:
        """Returns the whole response."""
        await self._until(self._responding.done)
        await self._responding
        return self.received

    async def _until(self, arrived: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not arrived():
                self.admin.fake.run()
                await asyncio.sleep(0)


def _by_cookie(admin: FakeAdmin) -> dict[str, str]:
    login = admin.post("/login", {"user": USER, "password": PASSWORD})
    return {"cookie": login.headers["set-cookie"].partition(";")[0]}


def _by_password(admin: FakeAdmin) -> dict[str, str]:
    return basic(USER, PASSWORD)


def _by_token(admin: FakeAdmin) -> dict[str, str]:
    return {"authorization": f"Bearer {unsecured(sub=USER)}"}


def _delete_acls(admin: FakeAdmin) -> None:
    assert isinstance(admin.fake, SecuredKafka)
    admin.fake.delete_acls(AclFilter(principal=f"User:{USER}"))


def _delete_user(admin: FakeAdmin) -> None:
    admin.fake.broker.security.users.alter([Deletion(USER, ScramMechanism.SHA_256)], [])
    admin.fake.run()


def _log_out(admin: FakeAdmin) -> None:
    assert admin.admin.authentication is not None
    admin.admin.authentication.sessions.end((2).to_bytes(32).hex())  # FakeAdmin's second secret


def _wait(admin: FakeAdmin) -> None:
    admin.fake.clock.advance(LIFETIME_MS)


def _change_others(admin: FakeAdmin) -> None:
    add_user(admin.fake, "bob")
    assert isinstance(admin.fake, SecuredKafka)
    admin.fake.create_acls(allowed(Operation.READ, ResourceType.TOPIC, "t", principal="User:bob"))


LOGINS = [_by_password, _by_cookie, _by_token]
REFUSED, ENDED = f"User:{USER} may not Read Topic t", "the login has ended: log in again"


@pytest.mark.parametrize(
    ("login", "change", "reason"),
    [
        *((login, _delete_acls, REFUSED) for login in LOGINS),
        (_by_password, _delete_user, ENDED),
        (_by_cookie, _delete_user, ENDED),
        (_by_cookie, _log_out, ENDED),
        (_by_cookie, _wait, ENDED),
        (_by_token, _wait, ENDED),
    ],
)
def test_a_tail_ends_with_the_login_or_the_right_of_its_client(
    login: Login, change: Callable[[FakeAdmin], None], reason: str
) -> None:
    admin = _secured()
    headers = login(admin)

    async def story() -> str:
        stream = Stream(admin, "/topics/t/records:tail", headers)
        await stream.has("event: position")
        change(admin)
        admin.fake.append(record_batch(["secret"]))
        return await stream.end()

    response = asyncio.run(story())
    assert "secret" not in response
    assert json.loads(response.rpartition("event: end\ndata: ")[2]) == {"reason": reason}


@pytest.mark.parametrize("login", LOGINS)
def test_a_tail_goes_on_when_others_change(login: Login) -> None:
    admin = _secured()
    headers = login(admin)

    async def story() -> None:
        stream = Stream(admin, "/topics/t/records:tail", headers)
        await stream.has("event: position")
        _change_others(admin)
        admin.fake.append(record_batch(["one more"]))
        await stream.has("one more")
        admin.stopping.set()
        await stream.end()

    asyncio.run(story())


def test_a_download_ends_incomplete_without_the_right() -> None:
    admin = _secured()
    scan = Scan()
    admin.fake.broker.messages.browse.scan = lambda *_: scan  # type: ignore[method-assign]

    async def story() -> Stream:
        stream = Stream(admin, "/topics/t/records:download", _by_password(admin))
        scan.send(b"first")
        await stream.has("first")
        _delete_acls(admin)
        scan.send(b"secret")
        await stream.end()
        return stream

    stream = asyncio.run(story())
    assert (stream.received, stream.is_complete) == ("first", False)
    assert scan.closed


def test_an_upload_ends_without_the_right() -> None:
    admin = _secured()

    async def story() -> list[str]:
        headers = _by_password(admin) | {"transfer-encoding": "chunked"}
        headers["content-type"] = "application/json"
        stream = Stream(admin, "/topics/t/records", headers, "POST")
        stream.upload("first")
        await stream.has('"offset":0')
        _delete_acls(admin)
        stream.upload("second")
        return (await stream.end()).splitlines()

    _, refused = map(json.loads, asyncio.run(story()))
    assert refused["error_code"] == 40301
    assert admin.fake.partition("t").high_watermark == 1


class Scan:
    """Finds what the test sends."""

    def __init__(self) -> None:
        self._parts: list[Pending[ScanPart]] = [Pending()]
        self._next = 0
        self.closed = False

    def send(self, data: bytes) -> None:
        self._parts.append(Pending())
        self._parts[-2].resolve(ScanPart(data, None))

    def next(self) -> Pending[ScanPart]:
        self._next += 1
        return self._parts[self._next - 1]

    def close(self) -> None:
        self.closed = True
