"""OtelExport: all metrics, sent to an OpenTelemetry collector every so often.

They are read and encoded on the loop, in slices, as for a scrape. A thread sends them and waits for
the answer; while it does, nothing more is sent.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from threading import Thread
from typing import Protocol

from application.metrics.families.family import Reading
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from infrastructure.observability.collecting import Collector

TIMEOUT_S = 10.0
NS_IN_MS = 1_000_000
#: As OpenTelemetry's own programs know it: name=value, with commas.
HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS"


class Timers(Protocol):
    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> object: ...


def missing_extra() -> str | None:
    """What to say where the library is not installed; where it is, it has been imported."""
    try:
        from infrastructure.observability import otel_messages  # noqa: F401
    except ImportError:
        return "otel.endpoint needs a library: pip install opentelemetry-proto"
    return None


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
        self._started_ns = clock.now_ms() * NS_IN_MS
        self._busy = False
        self._failing = False

    def start(self) -> None:
        self._timers.after_ms(self._interval_ms, self._export)

    def _export(self) -> None:
        self.start()
        if self._busy:
            return
        from infrastructure.observability.otel_messages import OtelMessages, whole_request

        messages = OtelMessages(self._started_ns, self._clock.now_ms() * NS_IN_MS)
        parts = [messages.beginning(self._resource)]
        self._busy = True

        def take(reading: Reading) -> None:
            parts.append(messages.of(reading))

        def failed(fault: Exception) -> None:
            self._busy = False
            self._events.error("metrics_failed", error=fault)

        def done(_: None) -> None:
            try:
                self._send(whole_request(parts))
            except Exception as error:
                failed(error)

        self._collector.collect(take).then(done, failed)

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


def _posted(endpoint: str, body: bytes) -> str | None:
    """Why not, or None."""
    headers = {**_own_headers(), "Content-Type": "application/x-protobuf"}
    try:
        request = urllib.request.Request(endpoint, body, headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            answer.read()
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
