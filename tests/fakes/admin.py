"""The admin app over a broker in this process: requests without sockets, one after the other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count
from math import nan
from typing import Any, cast
from urllib.parse import quote, unquote

from fastapi import FastAPI

from application.background.runner import Runner
from application.metrics.broker import BrokerReadings
from application.metrics.families.durations import Durations
from application.metrics.families.request_counts import RequestCounts
from application.metrics.groups import GroupReadings
from application.metrics.history import History
from application.metrics.recent_requests import RecentRequests
from application.metrics.topics import TopicReadings
from application.metrics.transactions import TransactionReadings
from application.ports.request_log import RequestLog
from application.security.http_authentication import HttpAuthentication
from domain.configs.listener_security import ListenerSecurity, SecurityProtocol
from domain.errors import InvalidRequest, ResourceNotFound
from infrastructure.observability.collecting import Collector, Scrapes
from interfaces.connections.closing_log import ClosingLog
from interfaces.connections.handshakes import Handshakes
from interfaces.kafka.requests.faults import Faults
from interfaces.rest.admin import Admin, Check, Connection, KafkaListener
from interfaces.rest.serving.app import create_app, make_ready
from interfaces.rest.serving.gate import Gate
from interfaces.rest.serving.guard import Guard
from tests.fakes.broker import FakeBroker
from tests.fakes.logs import FakeRequestLog

HOST = "localhost:8082"


class _CurrentAdmin:
    """The Admin of the app that all tests share."""

    def __init__(self) -> None:
        self.admin: Admin | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.admin, name)


_current = _CurrentAdmin()


@cache
def _shared_app() -> FastAPI:
    app = create_app(cast(Admin, _current), testing=True)
    make_ready(app)
    return app


def app_of(admin: Admin, testing: bool = True) -> FastAPI:
    """FastAPI takes a tenth of a second to make an app, so there is one, with this Admin."""
    _current.admin = admin
    return _shared_app()


class RestResponse:
    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self.headers = {name.decode(): value.decode() for name, value in headers}
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"RestResponse({self.status}, {self.body[:500]!r})"


def facts(body: Mapping[str, Any], *names: str) -> tuple[Any, ...]:
    """The values of these fields."""
    return tuple(body[name] for name in names)


class FakeTesting:
    """Implements interfaces.rest.testing.Testing, without snapshots."""

    def __init__(self, fake: FakeBroker) -> None:
        self.faults = Faults(fake.scheduler)
        self._clock = fake.clock
        self.advanced_ms = 0

    async def advance(self, by_ms: int) -> None:
        self._clock.advance(by_ms)
        self.advanced_ms += by_ms

    def take_snapshot(self) -> str:
        raise InvalidRequest

    async def restore_snapshot(self, snapshot_id: str) -> None:
        raise ResourceNotFound

    async def delete_snapshot(self, snapshot_id: str) -> None:
        raise ResourceNotFound


def _new_secret() -> Callable[[], bytes]:
    return (n.to_bytes(32) for n in count(1)).__next__


class FakeAdmin:
    """Over a FakeBroker; runs its loop by hand until the response is there."""

    def __init__(
        self, fake: FakeBroker | None = None, request_log: RequestLog | None = None, **settings: str
    ) -> None:
        self.fake = fake or FakeBroker(None, **settings)
        self.request_log = request_log or FakeRequestLog(enabled=True)
        self.requests = RecentRequests(1000, self.fake.broker.catalog.name_of)
        self.counted: list[tuple[str, int, RequestCounts]] = []
        self.connections: list[Connection] = []
        self.commits = Durations()
        self.listeners: list[KafkaListener] = [KafkaListener("PLAINTEXT", "127.0.0.1", 9092, None)]
        self.checks: dict[str, Check] = {"listeners": lambda: None}
        broker = self.fake.broker
        self.history = History(
            broker.catalog,
            broker.groups.offsets,
            broker.background,
            self.fake.clock,
            lambda: self.counted,
            self.commits,
            lambda: (len(self.connections), 4096, nan),
        )
        self.admin = Admin(
            broker=self.fake.broker,
            events=self.fake.events,
            request_log=self.request_log,
            clock=self.fake.clock,
            version="1.2.3",
            started_at_ms=self.fake.clock.now_ms(),
            requests=self.requests,
            metrics=Scrapes(self._collector()),
            history=self.history,
            counted=lambda: self.counted,
            connections=lambda: self.connections,
            listeners=lambda: self.listeners,
            checks=self.checks,
            origin=lambda name: "command line" if name in self.fake.config.given else "default",
            storage="memory://",
            refusals=ClosingLog(self.fake.events, self.fake.scheduler),
            handshakes=Handshakes(self.fake.config, self.fake.scheduler),
            authentication=self._authentication(),
            testing=FakeTesting(self.fake),
        )
        #: Address and port of the client.
        self.peer = "192.0.2.1", 4711
        self.stopping = asyncio.Event()
        guard = Guard(["127.0.0.1"], [], self.fake.config.access_control_allow_origin)
        self.gate = Gate(app_of(self.admin), self.admin, guard, self.stopping)

    def _authentication(self) -> HttpAuthentication | None:
        config, parts = self.fake.config, self.fake.broker.security.authentication
        if config.admin_authentication == "none":
            return None
        security = ListenerSecurity("admin", SecurityProtocol.SASL_PLAINTEXT, config)
        listener = parts.of(security)
        assert listener is not None
        return HttpAuthentication(listener, parts.users, self.fake.clock, _new_secret())

    def _collector(self) -> Collector:
        broker, clock = self.fake.broker, self.fake.clock
        topics = TopicReadings(broker.catalog, clock, broker.placement)
        sources = [
            BrokerReadings(broker, clock, "1.2.3", clock.now_ms(), lambda: ["127.0.0.1:9092"]).read,
            GroupReadings(broker.groups.registry, broker.groups.offsets, broker.catalog).read,
            TransactionReadings(broker.transactions).read,
            topics.read,
        ]
        runner = Runner(self.fake.scheduler, clock, broker.commits)
        return Collector(sources, runner, topics.load)

    @property
    def v3(self) -> str:
        return f"/v3/clusters/{self.fake.broker.cluster_id}"

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> RestResponse:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, body: Any = None) -> RestResponse:
        return self.request("POST", path, body)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
    ) -> RestResponse:
        """`body` is sent as JSON, `raw` as it is; `path` may be a whole URL of a response."""
        path = path.removeprefix(f"http://{HOST}")
        content = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        sent = {"host": HOST, "content-length": str(len(content))}
        if content:
            sent["content-type"] = "application/json"
        sent |= headers or {}
        return asyncio.run(self._respond(method, path, sent, content))

    def scope(
        self, method: str, path: str, headers: Mapping[str, str], query: str
    ) -> dict[str, Any]:
        host, _, port = HOST.partition(":")
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": quote(path, safe="/:%").encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": self.peer,
            "server": (host, int(port)),
        }

    async def _respond(
        self, method: str, path: str, headers: Mapping[str, str], content: bytes
    ) -> RestResponse:
        app_of(self.admin)  # another FakeAdmin of the test may have been used meanwhile
        path, _, query = path.partition("?")
        scope = self.scope(method, path, headers, query)
        sent: list[Any] = []
        received = [{"type": "http.request", "body": content, "more_body": False}]

        async def receive() -> Any:
            if not received:
                await asyncio.Event().wait()  # until the response
            return received.pop()

        async def send(message: Any) -> None:
            sent.append(message)

        responding = asyncio.ensure_future(self.gate(scope, receive, send))
        while not responding.done():
            self.fake.run()
            await asyncio.sleep(0)
        await responding
        start, *pieces = sent
        return RestResponse(start["status"], start["headers"], b"".join(p["body"] for p in pieces))
