"""Produce requests per second and the broker's CPU for each, by the load generator in rawbench/.

Every load meets all brokers in turn, several times over: what else the machine does hits them
alike, so that their ratio holds where their figures do not.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench.brokers import Broker, Contender

SOURCE = Path(__file__).parent / "rawbench"


@dataclass(frozen=True)
class Load:
    name: str
    connections: int
    in_flight: int = 1
    records: int = 1
    record_bytes: int = 1000
    #: Of the time of a run: large batches fill memory and disk.
    share: float = 1.0


LOADS = [
    Load("1 connection", 1),
    Load("10 connections", 10),
    Load("10 x 5 in flight", 10, 5),
    Load("200 connections", 200),
    Load("16 KB batches, 4 x 5", 4, 5, records=16),
    Load("900 KB batches, 2 x 3", 2, 3, records=900, share=0.4),
]

WARM_UP = Load("warm-up", 10, 5)

Figures = dict[str, float]


def build(cache: Path) -> Path | str:
    """The load generator, or why there is none."""
    if shutil.which("go") is None:
        return "the load generator needs Go, which is not on the PATH"
    binary = (cache / "rawbench").absolute()
    subprocess.run(["go", "build", "-o", str(binary), "."], cwd=SOURCE, check=True)
    return binary


def measure(
    rawbench: Path, contenders: list[Contender], cache: Path, seconds: float, rounds: int
) -> dict[str, dict[str, Figures]]:
    """Medians of the rounds, by load and broker."""
    brokers: dict[str, Broker] = {}
    results: dict[str, dict[str, Figures]] = {}
    try:
        for load in LOADS:
            for contender in contenders:
                if contender.grows and contender.name in brokers:
                    brokers.pop(contender.name).stop()
                if contender.name not in brokers:
                    folder = cache / contender.name.replace(" ", "-")
                    brokers[contender.name] = contender.start(folder)
                    _run(rawbench, brokers[contender.name], WARM_UP, contender.warm_up_s)
            runs: dict[str, list[Figures]] = {contender.name: [] for contender in contenders}
            for _ in range(rounds):
                for name in runs:
                    figures = _run(rawbench, brokers[name], load, seconds * load.share)
                    runs[name].append(figures)
                    print(f"{load.name}, {name}: {_short(figures)}", file=sys.stderr)
            results[load.name] = {name: _median(figures) for name, figures in runs.items()}
    finally:
        for broker in brokers.values():
            broker.stop()
    return results


def table(results: dict[str, dict[str, Figures]]) -> str:
    lines = [
        "| load | broker | requests/s | MB/s | p50 us | p99 us | CPU us/request |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for load, brokers in results.items():
        for name, of in brokers.items():
            lines.append(
                f"| {load} | {name} | {of['requests_per_s']:,.0f} | {of['mb_per_s']:.1f} "
                f"| {of['p50_us']:,.0f} | {of['p99_us']:,.0f} | {of['cpu_us_per_request']:.1f} |"
            )
    return "\n".join(lines)


def _run(rawbench: Path, broker: Broker, load: Load, seconds: float) -> Figures:
    done = subprocess.run(
        [
            *(rawbench, "-addr", broker.address, "-pid", str(broker.process.pid)),
            *("-conns", str(load.connections), "-depth", str(load.in_flight)),
            *("-records", str(load.records), "-size", str(load.record_bytes)),
            *("-secs", str(seconds), "-warm", str(seconds / 3)),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{load.name}: {done.stdout}{done.stderr}")
    figures: Figures = json.loads(done.stdout)
    if figures["failed"]:
        raise SystemExit(f"{load.name}: {figures['failed']} requests were refused")
    return figures


def _median(runs: list[Figures]) -> Figures:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def _short(figures: Figures) -> str:
    return (
        f"{figures['requests_per_s']:,.0f} req/s, p50 {figures['p50_us']} us, "
        f"{figures['cpu_us_per_request']:.1f} us of CPU each"
    )
