"""Records over HTTP: read, produced, tailed and downloaded, with real Kafka clients."""

from __future__ import annotations

import base64
import csv
import http.client
import io
import json
import os
import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import BrokerProcess

NASTY = '</td><script>alert("x")</script>'
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture
def topic(admin: AdminClient) -> str:
    name = f"story-{uuid4().hex[:8]}"
    assert admin.post("/topics", {"name": name, "partitions": 2}).status == 201
    return name


def produce_samples(admin: AdminClient, topic: str, codec: str = "none", **config: Any) -> None:
    producer = Producer(
        {"bootstrap.servers": admin.broker.bootstrap, "compression.type": codec, **config}
    )
    for record in (
        {"key": "json", "value": json.dumps({"n": 1, "s": NASTY}), "headers": [("h", b"1")]},
        {"key": None, "value": None, "headers": [("empty", None), ("bytes", b"\xff")]},
        {"key": b"\x00\xff", "value": b"\xfe" * 100},
        {"key": "text", "value": NASTY, "timestamp": 1_000},
    ):
        producer.produce(topic, partition=0, **record)
    assert producer.flush(20) == 0


def fill(admin: AdminClient, topic: str, count: int, value: Callable[[int], str]) -> None:
    producer = Producer({"bootstrap.servers": admin.broker.bootstrap, "linger.ms": 20})
    for number in range(count):
        producer.produce(topic, key=f"k{number}", value=value(number), partition=0)
        producer.poll(0)
    assert producer.flush(30) == 0


@pytest.mark.parametrize("codec", CODECS)
def test_records_of_real_clients_are_shown(admin: AdminClient, topic: str, codec: str) -> None:
    produce_samples(admin, topic, codec)
    response = admin.get(f"/topics/{topic}/records?order=oldest")
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    first, null, binary, text = response.json["data"]
    assert (first["key"], first["value"]) == ("json", {"n": 1, "s": NASTY})
    assert first["headers"] == [{"name": "h", "value": "1", "value_format": "string"}]
    assert (null["key"], null["value"], null["value_format"]) == (None, None, "null")
    assert [one["value"] for one in null["headers"]] == [None, "/w=="]
    assert base64.b64decode(binary["key"]) == b"\x00\xff"
    assert base64.b64decode(binary["value"]) == b"\xfe" * 100
    assert (text["value"], text["timestamp"]) == (NASTY, 1_000)
    found = admin.get(f"/topics/{topic}/records?text={quote(NASTY)}").json
    assert [one["offset"] for one in found["data"]] == [3]


def test_a_search_ends_with_its_time_budget_and_continues_at_its_cursor(
    admin: AdminClient, topic: str
) -> None:
    fill(admin, topic, 60_000, lambda number: f"value {number}")
    query = f"/topics/{topic}/records?order=oldest&key_contains=value&time_budget_ms=1"
    page = admin.get(query).json
    assert page["stopped_because"] == "time"
    assert page["partitions"][0]["left"]["start_offset"] > 0
    whole = admin.get(query.replace("_ms=1", "_ms=60000") + f"&cursor={page['next_cursor']}").json
    assert (whole["stopped_because"], whole["found"]) == ("end", 0)
    assert page["scanned"] + whole["scanned"] == 60_000
    hit = admin.get(f"/topics/{topic}/records?key=k59999&order=oldest").json
    assert [one["offset"] for one in hit["data"]] == [59_999]


def test_downloads_have_every_record(admin: AdminClient, topic: str) -> None:
    produce_samples(admin, topic, "zstd")
    fill(admin, topic, 10_000, lambda number: f"=cmd{number}")
    path = f"/topics/{topic}/records:download"
    ndjson = admin.get(path)
    assert ndjson.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line)["offset"] for line in ndjson.body.splitlines()] == list(range(10_004))
    response = admin.get(f"{path}?format=csv")
    rows = list(csv.DictReader(io.StringIO(response.body.decode(), newline="")))
    assert [int(row["offset"]) for row in rows] == list(range(10_004))
    assert rows[4]["value"] == "'=cmd0"
    assert len(admin.get(f"{path}?limit=7").body.splitlines()) == 7


def test_a_download_of_a_deleted_topic_is_cut_off(admin: AdminClient, topic: str) -> None:
    fill(admin, topic, 10_000, lambda number: "x" * 3000)
    connection = http.client.HTTPConnection(*admin.broker.admin, timeout=30)
    connection.request("GET", f"/topics/{topic}/records:download")
    response = connection.getresponse()
    assert response.read(1000)
    assert admin.delete(f"/topics/{topic}").status == 204
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        response.read()
    connection.close()


def test_a_stalled_download_does_not_block_the_worker_of_another(
    admin: AdminClient, topic: str
) -> None:
    """The batches are so large that only worker processes read them."""
    producer = Producer({"bootstrap.servers": admin.broker.bootstrap, "batch.size": 900_000})
    for number in range(60):
        producer.produce(topic, key=str(number), value=f"{number} " * 100_000, partition=0)
        producer.flush(20)
    path = f"/topics/{topic}/records:download"
    stalled = http.client.HTTPConnection(*admin.broker.admin, timeout=60)
    stalled.request("GET", path)
    first = stalled.getresponse()
    start = first.read(1000)
    other = admin.get(path)
    assert [json.loads(line)["offset"] for line in other.body.splitlines()] == list(range(60))
    assert start + first.read() == other.body
    stalled.close()


def test_a_parquet_file_has_the_bytes_of_the_records(admin: AdminClient, topic: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    produce_samples(admin, topic, "lz4")
    response = admin.get(f"/topics/{topic}/records:download?format=parquet")
    assert response.headers["content-type"] == "application/vnd.apache.parquet"
    table = parquet.read_table(io.BytesIO(response.body))
    assert table.column("offset").to_pylist() == [0, 1, 2, 3]
    assert table.column("key").to_pylist() == [b"json", None, b"\x00\xff", b"text"]
    assert table.column("headers").to_pylist()[1] == [
        {"name": "empty", "value": None},
        {"name": "bytes", "value": b"\xff"},
    ]


def test_records_produced_over_http_are_read_by_clients(admin: AdminClient, topic: str) -> None:
    keys = [f"key-{number}" for number in range(40)]
    body = "".join(
        json.dumps({"key": key, "value": {"type": "JSON", "data": {"n": key}}}) for key in keys
    )
    reports = send(admin, topic, body.encode())
    assert [one["error_code"] for one in reports] == [200] * 40
    java = Producer({"bootstrap.servers": admin.broker.bootstrap, "partitioner": "murmur2_random"})
    partitions: dict[str, int] = {}
    for key in keys:
        java.produce(
            topic,
            key=key,
            on_delivery=lambda _e, m: partitions.update({m.key().decode(): m.partition()}),
        )
    assert java.flush(20) == 0
    assert [one["partition_id"] for one in reports] == [partitions[key] for key in keys]
    consumer = Consumer({"bootstrap.servers": admin.broker.bootstrap, "group.id": topic})
    consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for index in (0, 1)])
    messages = [message for _ in range(80) if (message := consumer.poll(20))]
    consumer.close()
    values = {one.key().decode(): json.loads(one.value()) for one in messages if one.value()}
    assert values == {key: {"n": key} for key in keys}


def test_each_record_is_reported_before_the_next_is_sent(admin: AdminClient, topic: str) -> None:
    """One connection, two directions."""
    with socket.create_connection(admin.broker.admin, timeout=20) as line:
        head = (
            f"POST /topics/{topic}/records HTTP/1.1\r\nhost: localhost\r\n"
            "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        line.sendall(head.encode())
        responses = line.makefile("rb")
        for number in range(3):
            record = b'{"partition_id":0,"value":"%d"}' % number
            line.sendall(b"%x\r\n%b\r\n" % (len(record), record))
            while not (report := responses.readline()).startswith(b'{"error_code"'):
                assert report
            assert json.loads(report)["offset"] == number
        line.sendall(b"0\r\n\r\n")


def send(admin: AdminClient, topic: str, body: bytes) -> list[dict[str, Any]]:
    response = admin.post(f"/topics/{topic}/records", body)
    assert response.status == 200
    return [json.loads(line) for line in response.body.splitlines()]


class Events:
    """The events of a tail."""

    def __init__(
        self, admin: AdminClient, path: str, headers: dict[str, str] | None = None
    ) -> None:
        self._connection = http.client.HTTPConnection(*admin.broker.admin, timeout=30)
        self._connection.request("GET", path, headers=headers or {})
        self._response = self._connection.getresponse()
        assert self._response.headers["content-type"].startswith("text/event-stream")

    def next(self, kind: str) -> dict[str, str]:
        while True:
            event: dict[str, str] = {}
            while line := self._response.readline().strip():
                name, _, content = line.decode().partition(":")
                event[name] = content.strip()
            assert event, "the stream has ended"
            if event.get("event") == kind:
                return event

    def close(self) -> None:
        self._connection.close()


def test_a_tail_has_new_records_also_after_a_reconnect(admin: AdminClient, topic: str) -> None:
    produce_samples(admin, topic)
    tail = Events(admin, f"/topics/{topic}/records:tail?last=1")
    assert tail.next("position")["id"] == "0:3,1:0"
    assert json.loads(tail.next("record")["data"])["value"] == NASTY
    send(admin, topic, b'{"partition_id":1,"value":"new"}')
    assert json.loads(tail.next("record")["data"])["value"] == "new"
    place = tail.next("position")["id"]
    tail.close()
    send(admin, topic, b'{"partition_id":1,"value":"missed"}')
    again = Events(admin, f"/topics/{topic}/records:tail", {"last-event-id": place})
    assert json.loads(again.next("record")["data"])["value"] == "missed"
    assert admin.delete(f"/topics/{topic}").status == 204
    again.next("end")
    again.close()


def workers(broker: BrokerProcess) -> list[int]:
    """Ids of the worker processes."""
    children = Path(f"/proc/{broker.pid}/task/{broker.pid}/children").read_text().split()
    return [int(child) for child in children]


def test_a_killed_worker_is_replaced(admin: AdminClient, topic: str) -> None:
    fill(admin, topic, 60_000, lambda number: f"value {number}")
    query = f"/topics/{topic}/records?order=oldest&key_contains=value&time_budget_ms=60000"
    assert admin.get(query).json["stopped_because"] == "end"
    for pid in workers(admin.broker):
        os.kill(pid, signal.SIGKILL)
    connection = http.client.HTTPConnection(*admin.broker.admin, timeout=30)
    connection.request("GET", query)
    for pid in workers(admin.broker):
        with suppress(ProcessLookupError):  # killed above
            os.kill(pid, signal.SIGKILL)
    assert connection.getresponse().status in (200, 503)
    connection.close()
    # That response may have come before the worker died; then the next request meets it.
    assert admin.get(query).status in (200, 503)
    assert admin.get(query).json["stopped_because"] == "end"


def test_a_worker_ends_with_its_broker(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path / "broker", "lmdb", ["--admin", "127.0.0.1:0"]) as broker:
        admin = AdminClient(broker)
        assert admin.post("/topics", {"name": "t"}).status == 201
        fill(admin, "t", 100, lambda number: f"value {number}")
        admin.get("/topics/t/records:download?format=parquet")
        [worker] = workers(broker)
        process = os.pidfd_open(worker)
        broker.kill()
        assert select.select([process], [], [], 20)[0], "it still runs"
        os.close(process)
