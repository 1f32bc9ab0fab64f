"""The export of metrics to OpenTelemetry."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class TelemetrySettings:
    otel_endpoint: str | None = setting(
        "otel.endpoint",
        STRING,
        None,
        "The OpenTelemetry collector that receives all metrics, by OTLP over HTTP in JSON, as in "
        "http://localhost:4318/v1/metrics.",
    )
    otel_interval_ms: int = setting(
        "otel.interval.ms",
        INT,
        60000,
        "How often metrics are sent to the collector.",
        minimum=100,
        unit="ms",
    )
