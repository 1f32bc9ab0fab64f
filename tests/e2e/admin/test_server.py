"""The HTTP server of the admin side: when it begins, what it bears, how it ends."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any
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


def raw(broker: BrokerProcess, data: bytes) -> bytes:
    """All that is answered to these bytes, until the server ends the connection."""
    with socket.create_connection(broker.admin, timeout=30) as connection:
        connection.sendall(data)
        answer = b""
        # A connection that is ended with bytes unread is reset once its answer has come.
        with suppress(ConnectionResetError):
            while received := connection.recv(65536):
                answer += received
        return answer


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


def test_who_connects_while_it_is_being_imported_is_answered_too(start_broker: StartBroker) -> None:
    broker = start_broker(*ADMIN)
    asked = []
    for _ in range(5):
        connection = http.client.HTTPConnection(*broker.admin, timeout=30)
        connection.request("GET", "/healthz")
        asked.append(connection)
    for connection in asked:
        assert connection.getresponse().status == 200
        connection.close()


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


def test_what_is_no_http_is_told_so_as_json(admin_broker: BrokerProcess) -> None:
    head, _, body = raw(admin_broker, b"nonsense\r\n\r\n").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    told = json.loads(body)
    assert told["error_code"] == 400 and "illegal request line" in told["message"]
    [line] = [
        json.loads(line)
        for line in admin_broker.log(1 << 20).splitlines()
        if told["correlation_id"] in line
    ]
    assert (line["event"], line["listener"], line["status"]) == ("request", "admin", 400)


def test_a_probe_of_http_1_0_is_answered(admin_broker: BrokerProcess) -> None:
    assert b" 200 " in raw(admin_broker, b"GET /healthz HTTP/1.0\r\n\r\n").partition(b"\r\n")[0]


def test_head_is_answered_on_a_connection_that_goes_on(admin: AdminClient) -> None:
    admin.post("/topics", {"name": "of-head"})
    connection = http.client.HTTPConnection(*admin.broker.admin, timeout=30)
    for path, status in (
        ("/", 200),
        ("/healthz", 200),
        ("/metrics", 200),
        ("/topics", 200),
        ("/topics/none", 404),
        ("/topics/of-head/records:tail", 200),
        ("/topics/of-head/records", 200),
    ):
        connection.request("HEAD", path)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (status, b""), path
    connection.request("GET", "/healthz")
    assert json.loads(connection.getresponse().read()) == {"status": "ok"}
    connection.close()


def test_headers_without_an_end_are_refused(admin_broker: BrokerProcess) -> None:
    answer = raw(admin_broker, b"GET / HTTP/1.1\r\nx: " + b"a" * 200_000)
    assert answer == b"" or b" 431 " in answer.partition(b"\r\n")[0]


def test_a_body_that_is_too_large_is_not_read_to_its_end(admin_broker: BrokerProcess) -> None:
    lines = "POST /topics HTTP/1.1", "host: localhost", "content-type: application/json"
    size = 1 << 40
    head = "\r\n".join([*lines, f"content-length: {size}", "", ""]).encode()
    answer = raw(admin_broker, head + b" " * 300_000)
    assert b" 413 " in answer.partition(b"\r\n")[0]


def test_one_connection_too_many_is_closed(start_broker: StartBroker) -> None:
    broker = start_broker(*ADMIN, "--set", "admin.max.connections=2")
    first, second = (http.client.HTTPConnection(*broker.admin, timeout=30) for _ in range(2))
    for connection in (first, second):
        connection.request("GET", "/healthz")
        assert connection.getresponse().read()
    third = http.client.HTTPConnection(*broker.admin, timeout=30)
    third.request("GET", "/healthz")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        third.getresponse()
    first.request("GET", "/healthz")
    assert first.getresponse().read()
    for connection in (first, second, third):
        connection.close()


def test_requests_on_one_connection_are_answered_in_their_turn(
    admin_broker: BrokerProcess,
) -> None:
    one = b"GET /topics/none HTTP/1.1\r\nhost: localhost\r\nx-correlation-id: %d\r\n\r\n"
    last = one.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    answer = raw(admin_broker, one % 1 + one % 2 + last % 3)
    told = [line for line in answer.split(b"\r\n") if line.startswith(b"x-correlation-id: ")]
    assert told == [b"x-correlation-id: 1", b"x-correlation-id: 2", b"x-correlation-id: 3"]


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


def test_a_record_that_is_refused_is_found_in_the_log(start_broker: StartBroker) -> None:
    broker = start_broker(*ADMIN)
    admin = AdminClient(broker)
    admin.post("/topics", {"name": "t"})
    told = {"x-correlation-id": "find-me-again"}
    answer = admin.ask("POST", "/topics/t/records", {"partition_id": 9}, told)
    assert (answer.status, answer.json["correlation_id"]) == (200, "find-me-again")
    line = json.loads(broker.log_line("find-me-again"))
    assert (line["status"], line["error_codes"], line["refused"]) == (200, [40403], 1)


def test_a_page_of_somebody_else_gets_nowhere(admin: AdminClient) -> None:
    rebound: dict[str, Any] = {"host": "evil.example:8082"}
    assert admin.ask("GET", "/topics", headers=rebound).json["error_code"] == 40303
    forged = {"origin": "http://evil.example", "content-type": "text/plain"}
    assert admin.ask("POST", "/topics", {"name": "t"}, headers=forged).status == 403
    assert admin.get("/topics/t").status == 404


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
