"""scripts/bench profile --load produce|fetch|... [--write [PAGE]]

Runs a load against Ottla with py-spy beside it and prints where the CPU time of one request
goes. The CPU of a request comes from a run without the profiler.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

from tests.bench.brokers import Broker, ottla
from tests.bench.filled import Topic, filled
from tests.bench.gauges import Figures
from tests.bench.machine import revision
from tests.bench.raw_loads import FETCH, PRODUCE, NoRawbench, Rawbench
from tests.bench.report import PAGE, marked, replace
from tests.bench.where_time_goes import groups, parse
from tests.tool import Arguments

LOADS = {
    "produce": "10 x 5 in flight",
    "produce-1x1": "1 connection",
    "produce-16kb": "16 KB batches, 4 x 5",
    "produce-900kb": "900 KB batches, 2 x 3",
    "fetch": "16 KB responses",
    "fetch-1mb": "1 MB responses",
}
#: Samples a second; an odd number does not fall into step with timers.
_RATE = 497
_TOPIC = Topic("profiled", 1, 200_000_000)


def main(arguments: list[str], cache: Path) -> None:
    parser = Arguments(
        prog="scripts/bench profile",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--load", choices=list(LOADS), required=True)
    parser.add_argument("--flush", choices=["os", "commit"], default="os")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument(
        "--write", nargs="?", const=PAGE, type=Path, metavar="PAGE", help="replace its marked part"
    )
    options = parser.parse_args(arguments)
    part = f"profile {options.load}"
    if options.write:
        marked(options.write, part)
    cache.mkdir(parents=True, exist_ok=True)
    py_spy = _py_spy()
    try:
        rawbench = Rawbench(cache)
    except NoRawbench as missing:
        raise SystemExit(f"bench: {missing}") from None

    contender = ottla(options.flush)
    folder = cache / "profiled"
    contender.prepare(folder)
    broker = contender.start(folder)
    try:
        filled(broker, _TOPIC, rawbench)
        plain = _load(rawbench, broker, options.load, options.seconds / 2)
        raw = _sampled(py_spy, rawbench, broker, options.load, options.seconds)
    finally:
        broker.stop()
        shutil.rmtree(folder, ignore_errors=True)

    stacks = parse(raw)
    us = plain["cpu_us_per_request"]
    text = _text(options, us, sum(stacks.values()), groups(stacks))
    print(text)
    if options.write:
        page = marked(options.write, part)
        options.write.write_text(replace(page, text, part), "utf-8")


def _text(
    options: argparse.Namespace, us: float, samples: int, shares: list[tuple[str, float]]
) -> str:
    command = f"scripts/bench profile --load {options.load}"
    command += f" --flush {options.flush}" if options.flush != "os" else ""
    parts = "; ".join(f"{name} {share:.1%} ({share * us:.2f} us)" for name, share in shares)
    return textwrap.fill(
        f"{_name(options.load)}: {us:.1f} us of CPU a request (`{command}`, revision {revision()},"
        f" {samples} samples): {parts}.",
        width=100,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _name(load: str) -> str:
    return ("Fetch, " if load.startswith("fetch") else "Produce, ") + LOADS[load]


def _py_spy() -> str:
    beside = Path(sys.executable).with_name("py-spy")
    found = str(beside) if beside.exists() else shutil.which("py-spy")
    if found is None:
        raise SystemExit(f"bench: profiling needs py-spy: {sys.executable} -m pip install py-spy")
    return found


def _load(rawbench: Rawbench, broker: Broker, load: str, seconds: float) -> Figures:
    name = LOADS[load]
    if load.startswith("fetch"):
        return rawbench.fetch(broker, _TOPIC.name, FETCH[name], seconds)
    [shape] = [one for one in PRODUCE if one.name == name]
    return rawbench.produce(broker, shape, seconds / shape.share)


def _sampled(py_spy: str, rawbench: Rawbench, broker: Broker, load: str, seconds: float) -> str:
    """py-spy's raw output of the middle of the load, with C functions if py-spy can read them."""
    raw = broker.folder / "profile.raw"
    beside = threading.Thread(target=_load, args=(rawbench, broker, load, seconds + 3))
    beside.start()
    try:
        command = [py_spy, "record", "-p", str(broker.pid), "-f", "raw", "-o", str(raw)]
        command += ["-d", str(max(1, round(seconds))), "-r", str(_RATE)]
        failures = []
        for native in (["--native"], []):
            done = subprocess.run([*command, *native], capture_output=True, text=True)
            if done.returncode == 0:
                return raw.read_text()
            failures.append((done.stdout + done.stderr)[-1000:])
        raise SystemExit("bench: py-spy failed:\n" + "\n".join(failures))
    finally:
        beside.join()
