"""A broker with its admin side on a free port, and an HTTP client of it."""

from __future__ import annotations

import http.client
import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.e2e.broker_process import NOTHING_EXPIRES, BrokerProcess
from tests.e2e.raw_client import array, string

OFFSET_COMMIT, COMMIT_VERSION = 8, 2

CONSOLE_1 = ("accessibility", "failures", "groups", "markup", "messages")
CONSOLE_2 = ("docs", "pages", "readme_walk", "screens", "topics")
ADMIN_BROKER = ("cli/test_requests", "test_group_names", "test_records", "test_rest_page")
#: Files that run in one process, because they share a browser or a broker with REST.
TOGETHER = {
    **{f"console/test_{name}.py": "console-1" for name in CONSOLE_1},
    **{f"console/test_{name}.py": "console-2" for name in CONSOLE_2},
    **{f"{name}.py": "admin-broker" for name in (*ADMIN_BROKER, "test_server")},
}


class FilesTogether(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return TOGETHER.get(file.partition("admin/")[2], file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return FilesTogether(config, log)


class Response:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"Response({self.status}, {self.body[:500]!r})"


class AdminClient:
    """One connection per request."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker

    def request(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """A body is sent as JSON, bytes as they are."""
        connection = http.client.HTTPConnection(*self.broker.admin, timeout=30)
        try:
            content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            sent = {} if content is None else {"content-type": "application/json"}
            connection.request(method, path, content, {**sent, **(headers or {})})
            return Response(connection.getresponse())
        finally:
            connection.close()

    def get(self, path: str) -> Response:
        return self.request("GET", path)

    def post(self, path: str, body: Any = None) -> Response:
        return self.request("POST", path, body)

    def delete(self, path: str) -> Response:
        return self.request("DELETE", path)


@pytest.fixture(scope="session")
def admin_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """Of all tests of a process: each uses topics and groups of its own."""
    folder = tmp_path_factory.mktemp("admin-broker")
    arguments = ["--admin", "127.0.0.1:0", "--log-requests", "all", *NOTHING_EXPIRES]
    with BrokerProcess(folder, "lmdb", arguments) as broker:
        yield broker
        assert broker.terminate() == 0, broker.log()
        assert "request_failed" not in broker.log(1 << 30)


@pytest.fixture
def admin(admin_broker: BrokerProcess) -> AdminClient:
    return AdminClient(admin_broker)


def commit_offset(broker: BrokerProcess, group: str, topic: str, offset: int = 0) -> None:
    """Of partition 0, without membership. Client libraries refuse some group ids."""
    partition = struct.pack(">iq", 0, offset) + string("")
    body = string(group) + struct.pack(">i", -1) + string("") + struct.pack(">q", -1)
    with broker.connect() as client:
        topics = array([string(topic) + array([partition])])
        response = client.request(OFFSET_COMMIT, COMMIT_VERSION, body + topics)
    assert response.rest()[-2:] == b"\0\0"
