"""Measures produce latency while REST clients scan a million records or watch the broker.

    python -m tests.bench.admin [--rounds N] [--seconds S] [--flush commit|os] [--slices]

Each round produces alone, beside a process that only uses CPU, and beside each kind of scan, and
prints how much each raises the latency of produce requests. With `--slices` the broker scans on its
loop, as it does while no worker process is available.
"""

from __future__ import annotations

import argparse
import json
import os
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

from tests.bench.brokers import Broker
from tests.bench.raw_loads import PRODUCE, Rawbench
from tests.bench.runs import LoadFailed

RECORDS = 1_000_000
TOPIC = "looked-through"
CACHE = Path(".cache/bench")
_SHAPES = [PRODUCE[1], PRODUCE[2]]
#: Baseline: the same load while another process keeps one core busy.
STRANGER = "a stranger that is busy"
SEARCH = "search, each record is opened"
_SCANS = {
    "search, no batch has it": "records?text=nowhere&order=oldest&time_budget_ms=60000",
    SEARCH: "records?key_contains=value&order=oldest&time_budget_ms=60000",
    "download as CSV": "records:download?format=csv",
}
_SLICED = """
import runpy, sys
from infrastructure.scanning.scan_worker import ScanProcesses
ScanProcesses.start = lambda self, job, log: None
sys.argv[0] = "ottla"
runpy.run_module("interfaces.main", run_name="__main__", alter_sys=True)
"""


#: The request, and the seconds between a response and the next request.
_WATCHED = {"metrics": 1.0, "console/data/overview": 2.0}
WATCHED = "a scrape each second, the console open"
ALL_OF_IT = "all of that at once"


class Asker:
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
            with urllib.request.urlopen(self._url) as answer:
                while answer.read(1 << 20):
                    if self._stop.is_set():
                        return
            self.seconds.append(time.monotonic() - began)
            self._stop.wait(self._pause)

    def __enter__(self) -> Asker:
        self._thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def broker(folder: Path, flush: str, slices: bool) -> Iterator[tuple[Broker, str]]:
    ready = folder / "ready.json"
    how = ["-c", _SLICED] if slices else ["-m", "interfaces.main"]
    process = subprocess.Popen(
        [
            *(sys.executable, *how, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"),
            *("--data", str(folder / "data"), "--flush", flush, "--log-requests", "off"),
            *("--ready-file", str(ready)),
        ],
        stdin=subprocess.DEVNULL,
        env={k: v for k, v in os.environ.items() if not k.startswith(("OTTLA_", "KAFKA_"))},
    )
    try:
        while not ready.exists():
            if process.poll() is not None:
                raise LoadFailed("the broker did not start")
            time.sleep(0.02)
        started = json.loads(ready.read_text())
        yield (
            Broker(process, started["listeners"][0]["port"], 0.0, folder),
            "http://" + started["admin"][0].removeprefix("http://"),
        )
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _stranger() -> Iterator[None]:
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
    for number in range(RECORDS):
        while True:
            try:
                producer.produce(TOPIC, key=f"key-{number}", value=f"value {number} " * 6)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(60)


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.bench.admin")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--flush", default="commit")
    parser.add_argument("--codec", default="zstd")
    parser.add_argument("--slices", action="store_true")
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    rawbench = Rawbench(CACHE)
    with (
        tempfile.TemporaryDirectory(dir=CACHE) as folder,
        broker(Path(folder), options.flush, options.slices) as (bench, url),
    ):
        fill(bench, options.codec)
        print(f"{RECORDS} records, {options.codec}, flush={options.flush}", flush=True)
        _measure(rawbench, bench, url, options)


def _scenes(url: str) -> dict[str, list[Asker]]:
    """The requests of each row; the time of the first one is reported."""
    topic = f"{url}/topics/{TOPIC}/"
    watched = [(f"{url}/{path}", pause) for path, pause in _WATCHED.items()]
    scans = {name: [(topic + path, 0.0)] for name, path in _SCANS.items()}
    searched = (topic + _SCANS[SEARCH], 0.0)
    asked = {**scans, WATCHED: watched, ALL_OF_IT: [searched, *watched]}
    return {name: [Asker(*one) for one in all_of_them] for name, all_of_them in asked.items()}


def _measure(rawbench: Rawbench, bench: Broker, url: str, options: Any) -> None:
    print("| produce | beside | p50 us | p99 us | p99, times alone | one takes s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for shape in _SHAPES:
        produce = partial(rawbench.produce, bench, shape, options.seconds, warm_s=0.5)
        runs: dict[str, list[dict[str, Any]]] = {}
        took: dict[str, list[float]] = {}
        for _ in range(options.rounds):
            runs.setdefault("nothing", []).append(produce())
            with _stranger():
                runs.setdefault(STRANGER, []).append(produce())
            for name, askers in _scenes(url).items():
                with ExitStack() as scene:
                    for asker in askers:
                        scene.enter_context(asker)
                    runs.setdefault(name, []).append(produce())
                took.setdefault(name, []).extend(askers[0].seconds)
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
