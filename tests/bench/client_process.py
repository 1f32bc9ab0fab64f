"""A client of clients/ in a process of its own, and the topics it writes to."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.bench.gauges import Figures
from tests.bench.runs import LoadFailed

PATIENCE_S = 120


def client(name: str, *arguments: object, patience_s: float = PATIENCE_S) -> Figures:
    command = [sys.executable, "-m", f"tests.bench.clients.{name}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patience_s)
    if done.returncode:
        raise LoadFailed(done.stderr[-2000:])
    figures: Figures = json.loads(done.stdout)
    return figures
