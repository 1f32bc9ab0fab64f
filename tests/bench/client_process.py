"""A client of clients/ in a process of its own, and the topics it writes to."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

from tests.bench.brokers import Broker
from tests.bench.filled import create
from tests.bench.gauges import Figures
from tests.bench.runs import LoadFailed

PATIENCE_S = 120
_numbers = itertools.count(1)


def new_topic(broker: Broker) -> str:
    name = f"bench-{next(_numbers)}"
    create(broker, name)
    return name


def client(name: str, *arguments: object) -> Figures:
    command = [sys.executable, "-m", f"tests.bench.clients.{name}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode:
        raise LoadFailed(done.stderr[-2000:])
    figures: Figures = json.loads(done.stdout)
    return figures
