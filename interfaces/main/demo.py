"""`ottla demo`: the thirty-second tour, with a broker in a process and a folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: Where the package of this file starts: what a child process must have on its path.
_ROOT = Path(__file__).resolve().parents[len(__name__.split(".")) - 1]
_PATIENCE_SECONDS = 30.0
_POLL_SECONDS = 0.005


class DemoFailed(Exception):
    pass


class ChildBroker:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready = folder / "ready.json"
        self._log = folder / "broker.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """The address to bootstrap from, once clients can be served."""
        self._ready.unlink(missing_ok=True)
        command = [
            *(sys.executable, "-m", __name__.rpartition(".")[0], "serve"),
            *("--listen", "127.0.0.1:0", "--data", str(self._folder / "data")),
            *("--storage", "lmdb://", "--ready-file", str(self._ready), "--log-format", "json"),
        ]
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, env={**os.environ, "PYTHONPATH": path}, stderr=log, start_new_session=True
            )
        return self._bootstrap(self._process)

    def _bootstrap(self, process: subprocess.Popen[bytes]) -> str:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self._ready.exists():
                return str(json.loads(self._ready.read_text())["bootstrap_servers"])
            if process.poll() is not None:
                break
            time.sleep(_POLL_SECONDS)
        raise DemoFailed(f"the broker did not start:\n{self._log.read_text()}")

    def stop(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(_PATIENCE_SECONDS)
            self._process = None


def run() -> int:
    from interfaces.cli.demo import TourFailed, tour

    with tempfile.TemporaryDirectory(prefix="ottla-demo-") as folder:
        broker = ChildBroker(Path(folder))
        try:
            tour(broker.start, lambda: broker.stop(signal.SIGKILL), print)
        except (DemoFailed, TourFailed) as failure:
            print(f"ottla: {failure}", file=sys.stderr)
            return 1
        finally:
            broker.stop(signal.SIGTERM)
    return 0
