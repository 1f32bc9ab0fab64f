from __future__ import annotations

from application.metrics.recent_requests import (
    KEPT_SECONDS,
    LOOKED_AT_ONCE,
    SECOND_NS,
    RecentRequests,
    RequestQuery,
)
from application.ports.request_log import ClientInfo, RequestRecord

MS = 1_000_000
NAMES = {3: "UNKNOWN_TOPIC_OR_PARTITION"}


class Kind:
    def __init__(self, title: str, version: int | None) -> None:
        self.title = title
        self.version = version
        self.waits_for_others = title == "Fetch"


def request(
    correlation_id: int,
    api: str = "Produce",
    client_id: str = "me",
    codes: tuple[int, ...] = (),
    took_ms: int = 1,
) -> RequestRecord:
    client = ClientInfo(1, "PLAINTEXT", "192.0.2.7:40001")
    client.client_id = client_id
    end = 1000 + took_ms * MS
    times = (1000, 1001, 1002, 1003, 1004, end)
    names = tuple(NAMES[code] for code in codes)
    return RequestRecord(
        Kind(api, 9), correlation_id, client, 2, None, 100, 50, codes, names, *times, 0
    )


def recent(limit: int, *records: RequestRecord) -> RecentRequests:
    requests = RecentRequests(limit, lambda topic_id: None)
    for one in records:
        requests.add(one)
    return requests


def found(requests: RecentRequests, query: RequestQuery) -> list[int | str]:
    return [record.correlation_id for some in requests.find(query) for record in some]


def test_the_newest_requests_come_first_and_the_oldest_are_dropped() -> None:
    requests = recent(3, *(request(n) for n in range(5)))
    assert found(requests, RequestQuery()) == [4, 3, 2]
    assert len(requests) == 3


def test_many_requests_are_searched_in_slices() -> None:
    requests = recent(1000, *(request(n) for n in range(1000)))
    slices = list(requests.find(RequestQuery(correlation_id="1")))
    assert len(slices) == 1000 // LOOKED_AT_ONCE
    assert [len(some) for some in slices] == [0, 0, 0, 0, 1]


def test_with_a_limit_of_zero_nothing_is_remembered() -> None:
    assert found(recent(0, request(1)), RequestQuery()) == []


def test_a_query_filters_requests() -> None:
    requests = recent(
        10,
        request(1),
        request(2, api="Fetch"),
        request(3, client_id="you"),
        request(4, codes=(3,)),
        request(5, took_ms=700),
        request(6, api="Heartbeat")._replace(log_subject=("topic", "t")),
        request(7, api="Heartbeat", codes=(3,)),
    )
    http = request(8)._replace(correlation_id="a-8", kind=Kind("GET /topics", None))
    requests.add_http(http)
    assert found(requests, RequestQuery(correlation_id="2")) == [2]
    assert found(requests, RequestQuery(api="fetch")) == [2]
    assert found(requests, RequestQuery(client_id="you")) == [3]
    assert found(requests, RequestQuery(only_errors=True)) == [7, 4]
    assert found(requests, RequestQuery(topic="t")) == [6]
    assert found(requests, RequestQuery(polling=False)) == [7, 5, 4, 3, 1, "a-8"]
    assert found(requests, RequestQuery(correlation_id="a-8")) == ["a-8"]
    assert found(requests, RequestQuery(api="HTTP")) == ["a-8"]
    assert found(requests, RequestQuery(slower_than_ns=500 * MS)) == [5]
    assert found(requests, RequestQuery(api="Produce", client_id="me")) == [5, 4, 1]


def test_a_fetch_that_waited_for_records_is_not_slow() -> None:
    idle = request(1, api="Fetch", took_ms=700)
    idle = idle._replace(completed_ns=idle.sent_ns - MS)
    slow = request(2, api="Fetch", took_ms=700)
    query = RequestQuery(slower_than_ns=500 * MS)
    assert found(recent(2, idle, slow), query) == [2]


def test_a_record_has_the_fields_of_the_request_log() -> None:
    [[record]] = recent(1, request(4, codes=(3,))).find(RequestQuery())
    assert (record.kind.title, record.kind.version, record.topics) == ("Produce", 9, 2)
    assert (record.error_codes, record.error_names) == ((3,), ("UNKNOWN_TOPIC_OR_PARTITION",))
    assert (record.bytes_in, record.bytes_out) == (100, 50)
    assert (record.received_ns, record.sent_ns) == (1000, 1000 + MS)
    assert record.elapsed_ns == MS


PRODUCE = Kind("Produce", 9)


def failure(correlation_id: int, second: int, client: ClientInfo) -> RequestRecord:
    start = second * SECOND_NS + correlation_id
    record = request(correlation_id, codes=(3,))
    return record._replace(kind=PRODUCE, client=client, received_ns=start, sent_ns=start + 1)


def test_failures_are_remembered_for_minutes_and_a_repeated_one_leaves_room_for_others() -> None:
    requests = recent(KEPT_SECONDS * 10)
    one, other = (ClientInfo(n, "PLAINTEXT", "") for n in (1, 2))
    for second in range(KEPT_SECONDS):
        for number in range(99):
            requests.add_troubled(failure(100 * second + number, second, one))
        requests.add_troubled(failure(100 * second + 99, second, other))
    for n in range(KEPT_SECONDS * 10):
        requests.add(request(n))
    failures = found(requests, RequestQuery(only_errors=True))
    assert failures == [
        100 * second + n for second in reversed(range(KEPT_SECONDS)) for n in (99, 4, 3, 2, 1, 0)
    ]


def test_failures_and_others_are_ordered_by_time() -> None:
    requests = recent(10, *(request(n, took_ms=n) for n in (1, 3, 5)))
    for n in (2, 4):
        requests.add_troubled(request(n, codes=(3,), took_ms=n))
    assert found(requests, RequestQuery()) == [5, 4, 3, 2, 1]
