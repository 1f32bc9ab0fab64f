"""Several brokers over one store: when a broker that is silent loses its place."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class ClusterSettings:
    broker_session_timeout_ms: int = setting(
        "broker.session.timeout.ms",
        INT,
        6000,
        "With storage=postgresql://: a broker that was silent for so long is fenced, and others "
        "lead its partitions.",
        minimum=1000,
        unit="ms",
    )
    broker_heartbeat_interval_ms: int = setting(
        "broker.heartbeat.interval.ms",
        INT,
        1500,
        "With storage=postgresql://: how often a broker reports that it is alive; at most half of "
        "broker.session.timeout.ms.",
        minimum=100,
        unit="ms",
    )
