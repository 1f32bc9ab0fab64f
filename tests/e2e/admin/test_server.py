"""The HTTP server of the admin side: start, addresses, limits, stop."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import StartBroker

ADMIN = ("--admin", "127.0.0.1:0")


def mapped_files(broker: BrokerProcess) -> str:
    """Has the extension modules that the process has imported."""
    return Path(f"/proc/{broker.pid}/maps").read_text()


def test_an_http_client_on_the_kafka_port_is_shown_the_admin_address(
    start_broker: StartBroker,
) -> None:
    broker = start_broker(*ADMIN)
    url = f"http://127.0.0.1:{broker.admin.port}"
    for _ in range(3):
        with pytest.raises(HTTPError, match="Bad Request") as refused:
            urlopen(f"http://{broker.bootstrap}/", timeout=30)
        with refused.value as response:
            assert url in response.read().decode()
    assert url in broker.log_line("an HTTP request"), "it is logged once"
    # Nothing has connected to the admin address.
    assert broker.terminate() == 0


def test_the_server_is_imported_at_the_first_connection_and_stops_with_open_ones(
    start_broker: StartBroker,
) -> None:
    broker = start_broker(*ADMIN)
    assert "pydantic_core" not in mapped_files(broker)
    idle = http.client.HTTPConnection(*broker.admin, timeout=30)
    idle.request("GET", "/healthz")
    assert idle.getresponse().read() == b'{"status":"ok"}'
    assert "pydantic_core" in mapped_files(broker)
    half = socket.create_connection(broker.admin, timeout=30)
    half.sendall(b"POST /topics HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n")
    assert broker.terminate() == 0
    assert half.recv(1) == b""
    half.close()
    idle.close()
    assert "drain_timed_out" not in broker.log()


def test_a_request_that_is_never_complete_ends_with_the_drain_timeout(
    start_broker: StartBroker,
) -> None:
    broker = start_broker(*ADMIN, "--set", "drain.timeout.ms=100")
    with socket.create_connection(broker.admin, timeout=30) as slow:
        lines = "POST /topics HTTP/1.1", "host: localhost", "content-type: application/json"
        slow.sendall("\r\n".join([*lines, "content-length: 10", "", "{"]).encode())
        assert AdminClient(broker).get("/healthz").status == 200
        assert broker.terminate() == 0
        response = slow.recv(65536)
    assert b" 503 " in response.partition(b"\r\n")[0]
    assert b"the broker is stopping" in response
    assert "drain_timed_out" in broker.log()


def test_the_server_listens_on_all_its_addresses_or_none(start_broker: StartBroker) -> None:
    broker = start_broker("--set", "admin.listeners=127.0.0.1:0,localhost:0", "--admin", "off")
    assert broker.ready["admin"] == [], "--admin has precedence over --set"
    assert broker.terminate() == 0
    broker = start_broker("--admin", "127.0.0.1:0,localhost:0")
    for address in broker.ready["admin"]:
        connection = http.client.HTTPConnection(address, timeout=30)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()


def test_the_broker_is_ready_and_lists_its_clients(admin: AdminClient) -> None:
    ready = admin.get("/readyz").json
    assert {check["name"]: check["status"] for check in ready["checks"]} == {
        "listeners": "up",
        "storage": "up",
        "recovery": "up",
    }
    assert admin.get("/version").json["cluster_id"] == admin.broker.ready["cluster_id"]
    with admin.broker.connect() as client:
        assert client.create_topic("of-a-connection", 1, {}) == 0
        address = "{}:{}".format(*client.socket.getsockname())
        connections = admin.get("/connz").json["data"]
    [connection] = [one for one in connections if one["address"] == address]
    assert connection["bytes_in"] > 0 and connection["bytes_out"] > 0
    assert connection["listener"] == "PLAINTEXT"
