"""The HTTP server of the admin side: when it begins, what it bears, how it ends."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import StartBroker

ADMIN = ("--admin", "127.0.0.1:0")


def modules_of(broker: BrokerProcess) -> str:
    """What the process has mapped: extension modules show there when they are imported."""
    return Path(f"/proc/{broker.pid}/maps").read_text()


def test_an_http_client_on_the_kafka_port_is_shown_the_admin_address(
    start_broker: StartBroker,
) -> None:
    broker = start_broker(*ADMIN)
    url = f"http://127.0.0.1:{broker.admin.port}"
    for _ in range(3):
        with pytest.raises(HTTPError, match="Bad Request") as refused:
            urlopen(f"http://{broker.bootstrap}/", timeout=30)
        with refused.value as answer:
            assert url in answer.read().decode()
    assert url in broker.log_line("an HTTP request"), "one line, however often it comes"


def test_nothing_of_it_is_imported_until_somebody_connects(start_broker: StartBroker) -> None:
    broker = start_broker(*ADMIN)
    assert "pydantic_core" not in modules_of(broker)
    assert AdminClient(broker).get("/healthz").json == {"status": "ok"}
    assert "pydantic_core" in modules_of(broker)


def test_it_can_be_off(start_broker: StartBroker) -> None:
    broker = start_broker("--admin", "off")
    assert broker.ready["admin"] == []
    assert broker.terminate() == 0


def test_it_listens_where_it_is_told_even_twice(start_broker: StartBroker) -> None:
    broker = start_broker("--set", "admin.listeners=127.0.0.1:0,localhost:0", "--admin", "off")
    assert broker.ready["admin"] == [], "an option of its own goes before --set"
    broker = start_broker("--admin", "127.0.0.1:0,localhost:0")
    for address in broker.ready["admin"]:
        connection = http.client.HTTPConnection(address, timeout=30)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()


def test_a_chosen_address_that_is_busy_ends_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        broker = BrokerProcess(tmp_path, "memory", ["--admin", f"127.0.0.1:{port}"])
        process = broker.spawn()
        assert process.wait(30) == 1
    words = f"cannot listen on 127.0.0.1:{port}: the port is in use; choose another port with"
    assert f"{words} --admin HOST:PORT" in broker.log()


def test_a_stop_before_anybody_connected_and_one_with_open_connections(
    start_broker: StartBroker,
) -> None:
    unasked = start_broker(*ADMIN)
    assert unasked.terminate() == 0
    broker = start_broker(*ADMIN)
    idle = http.client.HTTPConnection(*broker.admin, timeout=30)
    idle.request("GET", "/healthz")
    assert idle.getresponse().read()
    half = socket.create_connection(broker.admin, timeout=30)
    half.sendall(b"POST /topics HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n")
    assert broker.terminate() == 0
    assert half.recv(1) == b""
    half.close()
    idle.close()
    assert "drain_timed_out" not in broker.log()


def test_a_request_that_never_ends_is_given_up_when_it_has_to_be(
    start_broker: StartBroker,
) -> None:
    broker = start_broker(*ADMIN, "--set", "drain.timeout.ms=100")
    with socket.create_connection(broker.admin, timeout=30) as slow:
        lines = "POST /topics HTTP/1.1", "host: localhost", "content-type: application/json"
        slow.sendall("\r\n".join([*lines, "content-length: 10", "", "{"]).encode())
        assert AdminClient(broker).get("/healthz").status == 200
        assert broker.terminate() == 0
        answer = slow.recv(65536)
    assert b" 503 " in answer.partition(b"\r\n")[0]
    assert b"the broker is stopping" in answer
    assert "drain_timed_out" in broker.log()


def test_each_request_is_one_line_in_the_log(admin: AdminClient) -> None:
    admin.ask("GET", "/topics/none", headers={"x-correlation-id": "find-me-again"})
    admin.get("/healthz")  # by now the line of the one before is written
    lines = [json.loads(line) for line in admin.broker.log(1 << 20).splitlines()]
    [line] = [line for line in lines if line.get("correlation_id") == "find-me-again"]
    assert (line["event"], line["api"], line["status"]) == (
        "request",
        "GET /topics/{topic_name}",
        404,
    )


def test_it_is_ready_and_says_what_it_is(admin: AdminClient) -> None:
    ready = admin.get("/readyz").json
    assert {check["name"]: check["status"] for check in ready["checks"]} == {
        "listeners": "up",
        "storage": "up",
        "recovery": "up",
    }
    assert admin.get("/version").json["cluster_id"] == admin.broker.ready["cluster_id"]


def test_connections_of_clients_are_listed(admin: AdminClient) -> None:
    with admin.broker.connect() as client:
        assert client.create_topic("of-a-connection", 1, {}) == 0
        [mine] = [
            one
            for one in admin.get("/connz").json["data"]
            if one["address"] == "{}:{}".format(*client.socket.getsockname())
        ]
    assert mine["bytes_in"] > 0 and mine["bytes_out"] > 0
    assert mine["listener"] == "PLAINTEXT"
