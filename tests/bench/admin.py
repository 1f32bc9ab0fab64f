"""Measures produce latency while REST clients scan a million records or watch the broker.

    python -m tests.bench.admin [--rounds N] [--seconds S] [--flush commit|os]

Each round produces alone, beside a process that only uses CPU, and beside each kind of scan, and
prints how much each raises the latency of produce requests.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from tests.bench.brokers import Broker, ottla
from tests.bench.filled import produce_all
from tests.bench.raw_loads import PRODUCE, Rawbench

RECORDS = 1_000_000
TOPIC = "scanned"
CACHE = Path(".cache/bench")
_SHAPES = [PRODUCE[1], PRODUCE[2]]
#: Baseline: the same load while another process keeps one core busy.
BUSY = "another busy process"
SEARCH = "search, each record is opened"
_SCANS = {
    "search, no batch has it": "records?text=nowhere&order=oldest&time_budget_ms=60000",
    SEARCH: "records?key_contains=value&order=oldest&time_budget_ms=60000",
    "download as CSV": "records:download?format=csv",
}
#: The request, and the seconds between a response and the next request.
_WATCHED = {"metrics": 1.0, "console/data/overview": 2.0}
WATCHED = "a scrape each second, the console open"
ALL_OF_IT = "all of that at once"


class Poller:
    """Sends the request again `pause` seconds after each response."""

    def __init__(self, url: str, pause: float = 0.0) -> None:
        self._url = url
        self._pause = pause
        self._stop = threading.Event()
        self.seconds: list[float] = []
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            with urllib.request.urlopen(self._url) as response:
                while response.read(1 << 20):
                    if self._stop.is_set():
                        return
            self.seconds.append(time.monotonic() - began)
            self._stop.wait(self._pause)

    def __enter__(self) -> Poller:
        self._thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def broker(folder: Path, flush: str) -> Iterator[tuple[Broker, str]]:
    started = ottla(flush, "--admin", "127.0.0.1:0").start(folder)
    try:
        [address, *_] = json.loads((folder / "ready.json").read_text())["admin"]
        yield started, "http://" + address.removeprefix("http://")
    finally:
        started.stop()


@contextmanager
def _busy_process() -> Iterator[None]:
    """A process that uses as much CPU as a worker process, without the broker."""
    busy = "import os\nos.nice(19)\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", busy])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def fill(bench: Broker, codec: str) -> None:
    producer = Producer(
        {"bootstrap.servers": bench.address, "compression.type": codec, "linger.ms": 20}
    )
    produce_all(
        producer,
        (
            {"topic": TOPIC, "key": f"key-{number}", "value": f"value {number} " * 6}
            for number in range(RECORDS)
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.bench.admin")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--flush", default="commit")
    parser.add_argument("--codec", default="zstd")
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    rawbench = Rawbench(CACHE)
    with (
        tempfile.TemporaryDirectory(dir=CACHE) as folder,
        broker(Path(folder), options.flush) as (bench, url),
    ):
        fill(bench, options.codec)
        print(f"{RECORDS} records, {options.codec}, flush={options.flush}", flush=True)
        _measure(rawbench, bench, url, options)


def _scenes(url: str) -> dict[str, list[Poller]]:
    """The requests of each row; the time of the first one is reported."""
    topic = f"{url}/topics/{TOPIC}/"
    watched = [(f"{url}/{path}", pause) for path, pause in _WATCHED.items()]
    scans = {name: [(topic + path, 0.0)] for name, path in _SCANS.items()}
    searched = (topic + _SCANS[SEARCH], 0.0)
    requests = {**scans, WATCHED: watched, ALL_OF_IT: [searched, *watched]}
    return {name: [Poller(*one) for one in all_of_them] for name, all_of_them in requests.items()}


def _measure(rawbench: Rawbench, bench: Broker, url: str, options: Any) -> None:
    print("| produce | beside | p50 us | p99 us | p99, times alone | one takes s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for shape in _SHAPES:
        produce = partial(rawbench.produce, bench, shape, options.seconds, warm_s=0.5)
        runs: dict[str, list[dict[str, Any]]] = {}
        took: dict[str, list[float]] = {}
        for _ in range(options.rounds):
            runs.setdefault("nothing", []).append(produce())
            with _busy_process():
                runs.setdefault(BUSY, []).append(produce())
            for name, pollers in _scenes(url).items():
                with ExitStack() as scene:
                    for poller in pollers:
                        scene.enter_context(poller)
                    runs.setdefault(name, []).append(produce())
                took.setdefault(name, []).extend(pollers[0].seconds)
        alone = _median(runs["nothing"], "p99_us")
        for name, figures in runs.items():
            p50, p99 = _median(figures, "p50_us"), _median(figures, "p99_us")
            seconds = f"{statistics.median(took[name]):.3f}" if took.get(name) else ""
            row = (shape.name, name, f"{p50:.0f}", f"{p99:.0f}", f"{p99 / alone:.2f}", seconds)
            print(f"| {' | '.join(row)} |", flush=True)


def _median(figures: list[dict[str, Any]], name: str) -> float:
    return statistics.median(each[name] for each in figures)


if __name__ == "__main__":
    main()
