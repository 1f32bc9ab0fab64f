"""Starts Spark's JVM with its stderr in our hands: a job's failure is one line, not Spark's pages.

Spark's Python workers write there too. OTTLA_TRACEBACK in the environment lets all of it through.
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

#: Kept of what was said last.
_KEPT_BYTES = 64 * 1024
#: How Spark begins to draw how far it is, which is for terminals.
_BAR = b"\r"
#: While a job draws a line of its own: two would take turns in one place.
bars_hidden = threading.Event()


class Said:
    """The end of what is written into a pipe; a thread reads it, so that no writer ever waits."""

    def __init__(self) -> None:
        self._reads, self.writes = os.pipe()
        self._kept = b""
        self._reader = threading.Thread(target=self._read, name="said by the JVM", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while said := os.read(self._reads, _KEPT_BYTES):
            self._kept = (self._kept + said)[-_KEPT_BYTES:]
            if said.startswith(_BAR) and sys.stderr.isatty() and not bars_hidden.is_set():
                sys.stderr.write(said.decode("utf-8", "replace"))
                sys.stderr.flush()
        os.close(self._reads)

    def written(self) -> None:
        """This process writes nothing more into it; others that have it may."""
        os.close(self.writes)

    def all(self) -> str:
        """Of writers that ended."""
        self._reader.join(1.0)
        return self._kept.decode("utf-8", "replace")


def is_loud() -> bool:
    return "OTTLA_TRACEBACK" in os.environ


def start_jvm(settings: Mapping[str, str]) -> None:
    """The one of this process, unless it runs already or shall be heard."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if is_loud() or SparkContext._gateway is not None:
        return
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    said = Said()
    popen: dict[str, Any] = {"stderr": said.writes}
    try:
        gateway = launch_gateway(conf, popen)
    except Exception as failure:
        said.written()
        raise RuntimeError(reason_in(said.all()) or str(failure)) from failure
    said.written()
    SparkContext._ensure_initialized(gateway=gateway)


def hush(context: SparkContext) -> None:
    """A SIGTERM to all processes ends the JVM before the job: pyspark would tell that at length."""
    server: Any = context._accumulatorServer
    if server is not None and not is_loud():
        server.handle_error = lambda *_: None


def reason_in(said: str) -> str:
    """Why a JVM did not start."""
    lines = [line.removeprefix("Error: ") for line in said.splitlines() if line.strip()]
    reasons = [line for line in lines if not line.startswith(("WARNING:", "Using Spark's", "\t"))]
    return root_of("\n".join(reasons))
