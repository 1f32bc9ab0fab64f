"""From the start of the process to the ready file on an empty folder, and memory when idle."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from tests.bench.brokers import Contender

_SETTLE_S = 1.0


def measure(contenders: list[Contender], cache: Path, times: int) -> dict[str, dict[str, float]]:
    results = {}
    for contender in contenders:
        readies = []
        for number in range(times):
            broker = contender.start(cache / "startup")
            readies.append(broker.ready_s)
            if number == times - 1:
                time.sleep(_SETTLE_S)
                memory = broker.memory_mb()
            broker.stop()
        results[contender.name] = {
            "ready_ms": statistics.median(readies) * 1000,
            "ready_max_ms": max(readies) * 1000,
            "rss_anon_mb": memory["RssAnon"],
            "rss_mb": memory["VmRSS"],
        }
    return results


def table(results: dict[str, dict[str, float]]) -> str:
    lines = [
        "| broker | ready ms (median) | ready ms (max) | RssAnon MB idle | RSS MB idle |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, of in results.items():
        lines.append(
            f"| {name} | {of['ready_ms']:.0f} | {of['ready_max_ms']:.0f} "
            f"| {of['rss_anon_mb']:.1f} | {of['rss_mb']:.1f} |"
        )
    return "\n".join(lines)
