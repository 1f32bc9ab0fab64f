"""A broker with its admin side on a free port, and what a program sends there."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.e2e.broker_process import BrokerProcess


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"Answer({self.status}, {self.body[:500]!r})"


class AdminClient:
    """One connection after another."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection(*self.broker.admin, timeout=30)
        try:
            content = None if body is None else json.dumps(body).encode()
            told = {} if content is None else {"content-type": "application/json"}
            connection.request(method, path, content, {**told, **(headers or {})})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.ask("POST", path, body)


@pytest.fixture(scope="module")
def admin_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    folder = tmp_path_factory.mktemp("admin-broker")
    arguments = ["--admin", "127.0.0.1:0", "--log-requests", "all"]
    with BrokerProcess(folder, "lmdb", arguments) as broker:
        yield broker
        assert broker.terminate() == 0, broker.log()


@pytest.fixture
def admin(admin_broker: BrokerProcess) -> AdminClient:
    return AdminClient(admin_broker)
