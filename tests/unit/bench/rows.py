"""Runs as the JSON of a bench has them, written by hand."""

from __future__ import annotations

from typing import Any


def row(part: str, load: str, broker: str, **figures: float) -> dict[str, Any]:
    return {"part": part, "load": load, "broker": broker, "figures": figures}


def produced(broker: str, rate: float, cpu_us: float = 10.0) -> dict[str, Any]:
    return row(
        *("produce", "10 connections", broker),
        requests_per_s=rate,
        mb_per_s=rate / 1000,
        cpu_us_per_request=cpu_us,
        rss_anon_peak_mb=rate / 100,
    )


def run(rows: list[dict[str, Any]], **others: Any) -> dict[str, Any]:
    machine = dict.fromkeys(("cpu", "system", "python", "uvloop", "lmdb", "java", "go"), "some")
    return {
        "command": "scripts/bench --quick",
        "date": "2026-01-01",
        "revision": "abc",
        "machine": {**machine, "confluent-kafka": "2", "cpus": 2, "memory_gb": 24},
        "load_before": [0.1, 0.1, 0.1],
        "kafka": "4.2.0",
        "rounds": 2,
        "minutes": 1.5,
        "limits": {},
        "micro": {},
        "skipped": {},
        "runs": rows,
        **others,
    }
