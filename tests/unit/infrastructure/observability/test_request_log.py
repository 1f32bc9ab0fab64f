from __future__ import annotations

import io
import json
from typing import Any

from application.ports.request_log import ClientInfo, RequestLog, RequestRecord
from infrastructure.observability.event_log import open_event_log
from infrastructure.observability.request_log import StructuredRequestLog

MS = 1_000_000


def request_log(mode: str, sample: int = 1, stream: io.BytesIO | None = None) -> RequestLog:
    log = open_event_log(stream or io.BytesIO(), "json")
    return StructuredRequestLog(log, mode, slow_ms=500, sample=sample)


def included(log: RequestLog) -> dict[str, bool]:
    return {
        "quick": log.includes(1 * MS, failed=False),
        "slow": log.includes(500 * MS, failed=False),
        "failed": log.includes(1 * MS, failed=True),
    }


def test_the_mode_selects_the_logged_requests() -> None:
    assert included(request_log("all")) == {"quick": True, "slow": True, "failed": True}
    assert included(request_log("slow")) == {"quick": False, "slow": True, "failed": True}
    assert included(request_log("errors")) == {"quick": False, "slow": False, "failed": True}
    assert included(request_log("off")) == {"quick": False, "slow": False, "failed": False}


def test_the_mode_has_the_duration_of_requests_that_are_never_logged() -> None:
    quick = {mode: request_log(mode).quick_ns for mode in ("all", "slow", "errors", "off")}
    assert quick["all"] == 0 and quick["slow"] == 500 * MS
    assert quick["errors"] == quick["off"] > 10**18


def test_slow_and_failed_requests_are_not_sampled() -> None:
    log = request_log("all", sample=3)
    assert [log.includes(1, failed=False) for _ in range(7)] == [
        True, False, False, True, False, False, True,
    ]  # fmt: skip
    assert all(log.includes(500 * MS, failed=False) for _ in range(3))
    assert all(log.includes(1, failed=True) for _ in range(3))


class Produce:
    title, version, waits_for_others = "Produce", 9, True


def record(
    errors: dict[int, str] | None = None, slow_by_ns: int = 0, waited_ns: int = 0
) -> RequestRecord:
    client = ClientInfo(4, "PLAINTEXT", "127.0.0.1:5", "me")
    client.software_name, client.software_version = "librdkafka", "2.6"
    sent_ns = 16_000 + waited_ns + slow_by_ns
    return RequestRecord(
        Produce(),
        correlation_id=17,
        client=client,
        topics=2,
        log_subject=None,
        bytes_in=100,
        bytes_out=50,
        error_codes=tuple(errors or ()),
        error_names=tuple((errors or {}).values()),
        received_ns=1000,
        started_ns=2000,
        decoded_ns=4000,
        handled_ns=7000,
        completed_ns=11_000 + waited_ns,
        sent_ns=sent_ns,
        wall_ns=1_780_000_000_007 * MS - sent_ns,
    )


def line(record: RequestRecord) -> dict[str, Any]:
    stream = io.BytesIO()
    request_log("all", stream=stream).write(record)
    written: dict[str, Any] = json.loads(stream.getvalue())
    return written


def test_a_line_has_client_request_durations_and_errors() -> None:
    written = line(record())
    assert written == {
        "time": "2026-05-28T20:26:40.007+00:00",
        "level": "info", "event": "request", "correlation_id": 17, "connection_id": 4,
        "client_id": "me", "software": "librdkafka/2.6", "peer": "127.0.0.1:5",
        "listener": "PLAINTEXT", "api": "Produce", "version": 9, "topics": 2, "bytes_in": 100,
        "bytes_out": 50, "queue_us": 1, "decode_us": 2, "handle_us": 3, "wait_us": 4,
        "send_us": 5, "total_us": 15, "errors": [], "error_codes": [],
    }  # fmt: skip


def test_failed_and_slow_requests_are_warnings() -> None:
    failed = line(record(errors={3: "UNKNOWN_TOPIC_OR_PARTITION", 1: "OFFSET_OUT_OF_RANGE"}))
    assert failed["level"] == "warning"
    assert failed["errors"] == ["UNKNOWN_TOPIC_OR_PARTITION", "OFFSET_OUT_OF_RANGE"]
    assert failed["error_codes"] == [3, 1]
    assert line(record(slow_by_ns=500 * MS))["level"] == "warning"


def test_a_fetch_that_waited_for_data_is_no_warning() -> None:
    written = line(record(waited_ns=500 * MS))
    assert (written["level"], written["total_us"]) == ("info", 500_015)


def test_fields_that_do_not_apply_are_left_out() -> None:
    written = line(record()._replace(topics=0, log_subject=("group", "g")))
    assert written["group"] == "g" and "topics" not in written


SECOND = 1000 * MS


def lines_of(mode: str, sent: list[tuple[str, int]]) -> list[dict[str, Any]]:
    """Of failed requests, by peer and time."""
    stream = io.BytesIO()
    log = request_log(mode, stream=stream)
    for peer, sent_ns in sent:
        failed = record(errors={3: "UNKNOWN_TOPIC_OR_PARTITION"})
        failed.client.peer = peer
        log.write(failed._replace(sent_ns=sent_ns))
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_host_that_repeats_failed_requests_gets_100_lines_a_second() -> None:
    flood = [("10.0.0.1:5", SECOND), ("10.0.0.1:6", SECOND + 1)] * 75
    sent = [*flood, ("10.0.0.2:5", SECOND), ("10.0.0.1:5", 2 * SECOND)]
    written = lines_of("errors", sent)
    assert [one["event"] for one in written] == [
        *["request"] * 100, "requests_not_logged", "request", "request",
    ]  # fmt: skip
    assert [one["peer"] for one in written[-3:]] == ["10.0.0.1", "10.0.0.2:5", "10.0.0.1:5"]
    assert len(lines_of("all", sent)) == len(sent)
