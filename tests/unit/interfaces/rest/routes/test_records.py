from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest

from application.ports.pending import Pending, resolved
from application.records.plan import ScanEnd, ScanPlan
from application.records.scan_worker import RunningScan, ScanPart
from domain.errors import StorageFailed
from domain.topics.partitioner import partition_for_key
from tests.fakes.admin import HOST, FakeAdmin, RestResponse, facts
from tests.fakes.batches import TIMESTAMP, ZSTD, record_batch

NASTY = '<script>alert("x")</script>'


@pytest.fixture
def some(admin: FakeAdmin) -> FakeAdmin:
    admin.fake.topic("t", 2)
    admin.fake.appended(
        record_batch(
            [
                ("k1", '{"n": 1}', [("h", b"1")], TIMESTAMP),
                (None, None, [], TIMESTAMP + 1),
                ("k3", NASTY, [], TIMESTAMP + 2),
            ],
            codec=ZSTD,
        )
    )
    admin.fake.appended(record_batch([("k4", b"\xff", [], TIMESTAMP + 3)]), index=1)
    return admin


def offsets(response: RestResponse) -> list[tuple[int, int]]:
    return [(one["partition_id"], one["offset"]) for one in response.json["data"]]


def test_the_newest_come_first_unless_an_offset_is_given(some: FakeAdmin) -> None:
    assert offsets(some.get("/topics/t/records")) == [(1, 0), (0, 2), (0, 1), (0, 0)]
    assert offsets(some.get("/topics/t/records?offset=1")) == [(0, 1), (0, 2)]
    assert offsets(some.get("/topics/t/records?order=oldest&partition=0&partition=1"))[0] == (0, 0)
    assert offsets(some.get("/topics/t/records?partition=1")) == [(1, 0)]


def test_a_page_has_the_reason_of_its_end_and_the_next_page(some: FakeAdmin) -> None:
    page = some.get("/topics/t/records?limit=3&order=oldest")
    body = page.json
    assert offsets(page) == [(0, 0), (0, 1), (0, 2)]
    names = ("kind", "order", "stopped_because")
    assert facts(body, *names) == ("KafkaRecordList", "oldest", "limit")
    names = ("partition_id", "start_offset", "end_offset", "log_end_offset", "left")
    assert [facts(one, *names) for one in body["partitions"]] == [
        (0, 0, 3, 3, None),
        (1, 0, 1, 1, {"start_offset": 0, "end_offset": 1}),
    ]
    here = f"http://localhost:8082{some.v3}/topics/t/records?limit=3&order=oldest"
    assert body["metadata"]["self"] == here
    assert body["metadata"]["next"].startswith(f"{here}&cursor=")
    following = some.get(body["metadata"]["next"])
    assert offsets(following) == [(1, 0)]
    assert following.json["stopped_because"] == "end"
    assert following.json["metadata"]["next"] is following.json["next_cursor"] is None


def test_browsers_do_not_render_records_as_a_page(some: FakeAdmin) -> None:
    response = some.get(f"{some.v3}/topics/t/records?text={quote(NASTY)}")
    [record] = response.json["data"]
    assert (record["value"], record["value_format"]) == (NASTY, "string")
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]


@pytest.mark.parametrize(
    "query, found",
    [
        ("key=k3", [2]),
        ("key_contains=k", [2, 0]),
        ("value_contains=script", [2]),
        ("header=h", [0]),
        ("header=h%3D1", [0]),
        ("header_contains=1", [0]),
        ("key=azM%3D&encoding=base64", [2]),
        ("where=$.n+%3D%3D+1", [0]),
        ("where=$.n+%3E+0&where=$.m", []),
        (f"timestamp={TIMESTAMP + 1}", [1, 2]),
        (f"timestamp={TIMESTAMP + 1}&end_timestamp={TIMESTAMP + 1}", [1]),
        ("timestamp=2023-11-14T22:13:20.001Z", [1, 2]),
        ("end_timestamp=2023-11-14T22:13:20.000", [0]),
    ],
)
def test_conditions(some: FakeAdmin, query: str, found: list[int]) -> None:
    response = some.get(f"/topics/t/records?partition=0&{query}")
    assert [offset for _, offset in offsets(response)] == found, response


@pytest.mark.parametrize(
    "query, status, words",
    [
        ("limit=0", 422, "limit"),
        ("limit=10001", 422, "limit"),
        ("offset=-1", 422, "offset"),
        ("max_bytes=99999999", 422, "max_bytes"),
        ("time_budget_ms=0", 422, "time_budget_ms"),
        ("format=xml", 422, "format"),
        ("timestamp=yesterday", 422, "timestamp"),
        ("timestamp=99999999999999999999", 422, "timestamp"),
        ("key=%&encoding=base64", 422, "key"),
        ("where=total", 422, "where"),
        ("cursor=zzz", 400, "cursor"),
        ("partition=7", 404, "partition"),
        (f"text={'x' * 5000}", 422, "text"),
    ],
)
def test_an_invalid_query_names_its_parameter(
    some: FakeAdmin, query: str, status: int, words: str
) -> None:
    response = some.get(f"/topics/t/records?{query}")
    assert response.status == status, response
    assert words in response.json["message"]


def test_an_unreadable_topic_is_503(some: FakeAdmin) -> None:
    some.fake.log.failing = StorageFailed("the disk is broken")
    for path in ("records", "records:download"):
        response = some.get(f"/topics/t/{path}")
        assert (response.status, response.json["message"]) == (503, "the disk is broken")


def test_downloads(some: FakeAdmin) -> None:
    lines = some.get("/topics/t/records:download").body.splitlines()
    assert [json.loads(line)["key"] for line in lines] == ["k1", None, "k3", "k4"]
    csv = some.get("/topics/t/records:download?format=csv&partition=0&limit=2")
    assert csv.headers["content-disposition"] == 'attachment; filename="t.csv"'
    assert csv.body.count(b"\r\n") == 3
    assert "content-length" not in csv.headers
    nothing = some.get("/topics/t/records:download?format=csv&key=none")
    assert nothing.body.startswith(b"partition,") and nothing.body.count(b"\r\n") == 1


def test_parquet_without_pyarrow_is_one_readable_error(
    some: FakeAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    response = some.get("/topics/t/records:download?format=parquet")
    assert (response.status, response.json["error_code"]) == (501, 501)
    assert "pip install pyarrow" in response.json["message"]


def sent(admin: FakeAdmin, body: bytes, prefix: str = "", topic: str = "t") -> list[Any]:
    """The reports of these records."""
    return lines(admin.request("POST", f"{prefix}/topics/{topic}/records", raw=body))


def lines(response: RestResponse) -> list[Any]:
    assert response.status == 200, response
    return [json.loads(line) for line in response.body.splitlines()]


def test_records_are_produced_and_reported_in_order(some: FakeAdmin) -> None:
    """A refused record does not end the stream."""
    entries: list[Any] = [
        {"partition_id": 1, "value": {"type": "JSON", "data": {"x": 1}}},
        {"value": {"type": "NOPE", "data": 1}},
        {"partition_id": 9, "value": "x"},
        {"value": "x" * 1_100_000},
        {"partition_id": 1, "key": "k", "timestamp": TIMESTAMP},
    ]
    first, *refused, last = sent(some, b"".join(json.dumps(each).encode() for each in entries))
    assert first.pop("cluster_id") == some.fake.broker.cluster_id
    assert first == {
        "error_code": 200,
        "topic_name": "t",
        "partition_id": 1,
        "offset": 1,
        "timestamp": "2023-11-14T22:13:20.000Z",
        "key": None,
        "value": {"type": "JSON", "size": 7},
    }
    assert [one["error_code"] for one in refused] == [42206, 40403, 41302]
    assert facts(last, "offset", "key", "value") == (2, {"type": "STRING", "size": 1}, None)


@pytest.mark.parametrize(
    "body, codes",
    [(b'{"value":"a"} nonsense {"value":"b"}', [200, 40001]), (b'{"value":', [40001])],
)
def test_text_that_is_not_json_ends_a_stream(
    some: FakeAdmin, body: bytes, codes: list[int]
) -> None:
    assert [one["error_code"] for one in sent(some, body, some.v3)] == codes


def test_many_records_in_one_body(some: FakeAdmin) -> None:
    body = b"\n".join(b'{"partition_id":1,"value":"%d"}' % number for number in range(500))
    assert [one["offset"] for one in sent(some, body)] == list(range(1, 501))


def test_a_batch_lists_successes_and_failures(some: FakeAdmin) -> None:
    entries = [
        {"id": "a", "partition_id": 1, "value": "x"},
        {"id": "b", "value": {"type": "BINARY", "data": "?"}},
        {"id": "c", "partition_id": 9},
    ]
    response = some.post("/topics/t/records:batch", {"entries": entries})
    assert response.status == 207
    [good] = response.json["successes"]
    assert (good["id"], good["offset"]) == ("a", 1)
    assert [(bad["id"], bad["error_code"]) for bad in response.json["failures"]] == [
        ("b", 42206),
        ("c", 40403),
    ]


def test_keys_that_take_long_to_hash_are_sent_a_few_at_a_time(
    some: FakeAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    service = some.fake.broker.messages.send
    sending = service.send
    monkeypatch.setattr(
        service, "send", lambda group: (sizes.append(len(group.records)), sending(group))[1]
    )
    keys = ["k" * 6000] * 5
    body = b"".join(json.dumps({"key": key}).encode() for key in keys)
    assert [one["error_code"] for one in sent(some, body)] == [200] * 5
    assert sizes == [2, 2, 1]


def test_a_key_that_takes_too_long_to_hash_needs_a_partition(some: FakeAdmin) -> None:
    some.fake.topic("wide", 11)
    entries = [
        {"key": "k" * 16_384},
        {"key": "k" * 16_385},
        {"key": "k" * 16_385, "partition_id": 3},
    ]
    body = b"".join(json.dumps(entry).encode() for entry in entries)
    hashed, refused, chosen = sent(some, body, topic="wide")
    assert hashed["partition_id"] == partition_for_key(b"k" * 16_384, 11)
    assert (refused["error_code"], "partition_id" in refused["message"]) == (42206, True)
    assert (chosen["error_code"], chosen["partition_id"]) == (200, 3)


def test_half_a_surrogate_is_refused_before_any_record_is_appended(some: FakeAdmin) -> None:
    entries = [{"id": "a", "partition_id": 1, "value": "x"}, {"id": "\ud800"}]
    assert some.post("/topics/t/records:batch", {"entries": entries}).status == 422
    assert offsets(some.get("/topics/t/records?partition=1")) == [(1, 0)]
    body = b'{"\\ud800": 1}{"partition_id":1,"value":"x"}'
    bad, good = sent(some, body)
    assert (bad["error_code"], good["error_code"]) == (42206, 200)


def test_topics_are_cloned(some: FakeAdmin) -> None:
    alone = some.post("/topics/t:clone", {"name": "alone", "configs": {"retention.ms": 5}})
    assert (alone.status, alone.json["partitions_count"]) == (201, 2)
    assert some.fake.existing("alone").configs == {"retention.ms": "5"}
    assert some.get("/topics/alone/records").json["data"] == []
    [last] = lines(some.post("/topics/t:clone", {"name": "whole", "records": True}))
    assert (last["copied_records"], last["total_records"], last["done"]) == (4, 4, True)
    before, after = (some.get(f"/topics/{name}/records").json["data"] for name in ("t", "whole"))
    assert before == after


def test_an_incomplete_clone_is_deleted(some: FakeAdmin) -> None:
    some.fake.log.failing = StorageFailed("the disk is broken")
    response = some.post("/topics/t:clone", {"name": "half", "records": True})
    assert b"the disk is broken" in response.body
    some.fake.log.failing = None
    some.fake.run()
    assert some.get("/topics/half").status == 404


@pytest.mark.parametrize("path", ["records", "records:download"])
@pytest.mark.parametrize("ends", ["disconnect", "stopping"])
def test_a_scan_ends_when_its_client_disconnects_or_the_server_stops(
    some: FakeAdmin, path: str, ends: str
) -> None:
    scan = EndlessScan()
    some.fake.broker.messages.browse.scan = lambda *_: scan  # type: ignore[method-assign]

    async def story() -> int:
        messages: asyncio.Queue[Any] = asyncio.Queue()
        messages.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        statuses: list[int] = []

        async def send(message: Any) -> None:
            statuses.append(message.get("status", 0))

        scope = some.scope("GET", f"/topics/t/{path}", {"host": HOST}, "")
        responding = asyncio.ensure_future(some.gate(scope, messages.get, send))
        await scan.started.wait()
        if ends == "disconnect":
            messages.put_nowait({"type": "http.disconnect"})
        else:
            some.stopping.set()
        await asyncio.wait_for(responding, 20)
        return statuses[0]

    assert asyncio.run(story()) == (499 if ends == "disconnect" else 503)
    assert scan.closed


def test_without_a_free_worker_a_page_is_503(some: FakeAdmin) -> None:
    browse = some.fake.broker.messages.browse

    def scan(plan: ScanPlan, *_: object) -> RunningScan:
        return DoneScan(ScanEnd("time", 0, 0, 0, plan.ranges))

    browse.scan = scan  # type: ignore[assignment,method-assign]
    response = some.get("/topics/t/records")
    assert (response.status, response.headers["retry-after"]) == (503, "1")
    assert response.json["error_code"] == 50304


class DoneScan:
    def __init__(self, end: ScanEnd) -> None:
        self._end = end

    def next(self) -> Pending[ScanPart]:
        return resolved(ScanPart(b"", self._end))

    def close(self) -> None: ...


class EndlessScan:
    """Never finds anything."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.closed = False

    def next(self) -> Pending[ScanPart]:
        self.started.set()
        return Pending()

    def close(self) -> None:
        self.closed = True
