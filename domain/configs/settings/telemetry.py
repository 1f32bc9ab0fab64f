"""Where metrics are sent, beside the scrapes of /metrics."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind


class TelemetrySettings:
    otel_endpoint: str | None = setting(
        "otel.endpoint",
        STRING,
        None,
        "An OpenTelemetry collector that all metrics are sent to, by OTLP over HTTP in JSON, as in "
        "http://localhost:4318/v1/metrics. Not set: nowhere.",
    )
    otel_interval_ms: int = setting(
        "otel.interval.ms",
        INT,
        60000,
        "How often they are sent.",
        minimum=100,
        unit="ms",
    )
