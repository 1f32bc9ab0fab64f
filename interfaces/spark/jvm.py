"""Starts Spark's JVM with its stderr in a pipe, so that a failed job prints one line.

Spark's Python workers write to it too. With OTTLA_TRACEBACK in the environment stderr is unchanged.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interfaces.spark.query.failures import root_of

if TYPE_CHECKING:
    from pyspark import SparkContext

_TAIL_BYTES = 64 * 1024
#: Spark's progress bar begins with it.
_BAR = b"\r"
#: Set while a job draws its own progress line.
bars_hidden = threading.Event()


class StderrTail:
    """The last bytes written to a pipe; a thread reads it, so that no writer blocks."""

    def __init__(self) -> None:
        self._reads, self.writes = os.pipe()
        self._tail = b""
        self._reader = threading.Thread(target=self._read, name="stderr of the JVM", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while written := os.read(self._reads, _TAIL_BYTES):
            self._tail = (self._tail + written)[-_TAIL_BYTES:]
            if written.startswith(_BAR) and sys.stderr.isatty() and not bars_hidden.is_set():
                sys.stderr.write(written.decode("utf-8", "replace"))
                sys.stderr.flush()
        os.close(self._reads)

    def close(self) -> None:
        """Closes this process's end; child processes may still write."""
        os.close(self.writes)

    def text(self) -> str:
        """Complete if all writers have ended."""
        self._reader.join(1.0)
        return self._tail.decode("utf-8", "replace")


def is_loud() -> bool:
    return "OTTLA_TRACEBACK" in os.environ


def start_jvm(settings: Mapping[str, str]) -> None:
    """Starts the JVM of this process, unless it runs already or OTTLA_TRACEBACK is set."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if is_loud() or SparkContext._gateway is not None:
        return
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    stderr = StderrTail()
    popen: dict[str, Any] = {"stderr": stderr.writes}
    try:
        gateway = launch_gateway(conf, popen)
    except Exception as failure:
        stderr.close()
        raise RuntimeError(reason_in(stderr.text()) or str(failure)) from failure
    stderr.close()
    SparkContext._ensure_initialized(gateway=gateway)


def hush(context: SparkContext) -> None:
    """When SIGTERM ends the JVM before the job, pyspark would print a traceback."""
    server: Any = context._accumulatorServer
    if server is not None and not is_loud():
        server.handle_error = lambda *_: None


def reason_in(text: str) -> str:
    """Why a JVM did not start."""
    lines = [line.removeprefix("Error: ") for line in text.splitlines() if line.strip()]
    reasons = [line for line in lines if not line.startswith(("WARNING:", "Using Spark's", "\t"))]
    return root_of("\n".join(reasons))
