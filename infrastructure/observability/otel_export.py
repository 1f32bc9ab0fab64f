"""OtelExport: sends all metrics to an OpenTelemetry collector periodically.

Metrics are read and encoded on the loop, in slices, as for a scrape. A thread sends them and waits
for the response; there is one export at a time. The format is OTLP's JSON, which collectors accept
beside protobuf and which needs no library: parts of the document are encoded reading by reading, as
encoding all of it at once would hold the loop.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http.client import HTTPException
from threading import Thread
from typing import Any, Protocol

import orjson

from application.metrics.families.family import Family, Histogram, Kind, Reading, Sample
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from infrastructure.observability.collecting import Collector

TIMEOUT_S = 10.0
NS_IN_MS = 1_000_000
#: As in OpenTelemetry's SDKs: name=value pairs, separated by commas.
HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS"
#: AGGREGATION_TEMPORALITY_CUMULATIVE
CUMULATIVE = 2


class Timers(Protocol):
    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> object: ...


class OtelExport:
    def __init__(
        self,
        collector: Collector,
        timers: Timers,
        from_thread: Callable[[Callable[[], None]], object],
        clock: Clock,
        events: EventLog,
        endpoint: str,
        interval_ms: int,
        resource: Mapping[str, str],
    ) -> None:
        self._collector = collector
        self._timers = timers
        self._from_thread = from_thread
        self._clock = clock
        self._events = events
        self._endpoint = endpoint
        self._interval_ms = interval_ms
        self._resource = resource
        self._started_ms = clock.now_ms()
        self._busy = False
        self._failing = False

    def start(self) -> None:
        self._timers.after_ms(self._interval_ms, self._export)

    def _export(self) -> None:
        self.start()
        if self._busy:
            return
        self._busy = True
        metrics: list[bytes] = []
        # 64-bit integers are strings in protobuf's JSON.
        times = {
            "startTimeUnixNano": str(self._started_ms * NS_IN_MS),
            "timeUnixNano": str(self._clock.now_ms() * NS_IN_MS),
        }

        def take(reading: Reading) -> None:
            if reading[1]:
                metrics.append(orjson.dumps(_metric(reading, times)))

        def failed(fault: Exception) -> None:
            self._busy = False
            self._events.error("metrics_failed", error=fault)

        self._collector.collect(take).then(
            lambda _: self._send(_document(self._resource, metrics)), failed
        )

    def _send(self, body: bytes) -> None:
        thread = Thread(target=self._post, args=(body,), name="otel", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system has no further thread
            self._sent(str(error))

    def _post(self, body: bytes) -> None:
        failure = _posted(self._endpoint, body)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._from_thread(lambda: self._sent(failure))

    def _sent(self, failure: str | None) -> None:
        self._busy = False
        if failure is not None and not self._failing:
            self._events.warning("metrics_export_failed", endpoint=self._endpoint, error=failure)
        if failure is None and self._failing:
            self._events.info("metrics_export_recovered", endpoint=self._endpoint)
        self._failing = failure is not None


def _document(resource: Mapping[str, str], metrics: list[bytes]) -> bytes:
    """An ExportMetricsServiceRequest."""
    attributes = orjson.dumps(_attributes(resource.items()))
    return (
        b'{"resourceMetrics":[{"resource":{"attributes":%b},"scopeMetrics":[{"metrics":[%b]}]}]}'
        % (
            attributes,
            b",".join(metrics),
        )
    )


def _metric(reading: Reading, times: Mapping[str, str]) -> dict[str, Any]:
    family, samples = reading
    data: dict[str, Any] = {"dataPoints": [_point(family, sample, times) for sample in samples]}
    if family.kind is not Kind.GAUGE:
        data["aggregationTemporality"] = CUMULATIVE
    if family.kind is Kind.COUNTER:
        data["isMonotonic"] = True
    kind = {Kind.COUNTER: "sum", Kind.GAUGE: "gauge", Kind.HISTOGRAM: "histogram"}[family.kind]
    return {"name": family.name, "description": family.help, kind: data}


def _point(family: Family, sample: Sample, times: Mapping[str, str]) -> dict[str, Any]:
    labels, value = sample
    point = {"attributes": _attributes(zip(family.labels, labels, strict=True)), **times}
    if isinstance(value, Histogram):
        return point | {
            "count": str(value.count),
            "sum": value.sum,
            "bucketCounts": [str(count) for count in value.counts],
            "explicitBounds": list(value.bounds),
        }
    return point | ({"asInt": str(value)} if isinstance(value, int) else {"asDouble": value})


def _attributes(facts: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"key": name, "value": {"stringValue": text}} for name, text in facts]


def _posted(endpoint: str, body: bytes) -> str | None:
    """The error, if there is one."""
    headers = {**_own_headers(), "Content-Type": "application/json"}
    try:
        request = urllib.request.Request(endpoint, body, headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            response.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return f"HTTP {refused.code} {refused.reason}"
    except (OSError, ValueError, HTTPException) as error:
        return str(error)
    return None


def _own_headers() -> dict[str, str]:
    pairs = [one.partition("=") for one in os.environ.get(HEADERS_VARIABLE, "").split(",")]
    return {
        urllib.parse.unquote(name.strip()): urllib.parse.unquote(value.strip())
        for name, _, value in pairs
        if name.strip()
    }
