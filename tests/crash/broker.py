"""The test's side of a broker that dies: starts it, ends it and waits for events."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.crash.child import Plan
from tests.e2e.broker_process import ROOT, environment

#: Timeout of a start: many times what it takes on a loaded machine.
START_WITHIN_S = 30.0
#: Timeout of a requested end.
END_WITHIN_S = 20.0
#: Timeout of a named point under load: some come with the 20,000th response.
POINT_WITHIN_S = 60.0

#: Exit signals of a killed broker: SIGKILL, or the timer of a moment within a call.
VIOLENT = (-signal.SIGKILL, -signal.SIGALRM)


class NotInTime(AssertionError):
    pass


class Nursery:
    """One process that forks many runs of the broker, one at a time."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        """`variables`: further ones of its environment."""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.crash.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=environment() | dict(variables or {}),
            # Ctrl-C is for the parent process, which then ends this one.
            start_new_session=True,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.orders, self.events_pipe = self.process.stdin, self.process.stdout
        self.rest = b""
        self.events: list[dict[str, Any]] = []
        self.wait_for("born", within_s=START_WITHIN_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.orders.close()
        self.process.wait()
        self.events_pipe.close()

    def order(self, **facts: Any) -> None:
        self.orders.write(json.dumps(facts).encode() + b"\n")
        self.orders.flush()

    def hear(self) -> None:
        """Reads messages; call it when the pipe is readable."""
        data = os.read(self.events_pipe.fileno(), 1 << 16)
        assert data, "the nursery is gone"
        *lines, self.rest = (self.rest + data).split(b"\n")
        self.events += map(json.loads, lines)

    def wait_for(self, *names: str, within_s: float = START_WITHIN_S) -> dict[str, Any]:
        deadline = time.monotonic() + within_s
        with selectors.DefaultSelector() as selector:
            selector.register(self.events_pipe, selectors.EVENT_READ)
            while True:
                for event in self.events:
                    if event["event"] in names:
                        return event
                if not selector.select(deadline - time.monotonic()):
                    raise NotInTime(f"the broker was not {' or '.join(names)} in {within_s} s")
                self.hear()


class Broker:
    """Runs the broker again and again over one store and one port."""

    def __init__(
        self,
        nursery: Nursery,
        folder: Path,
        flush: str,
        offsets: str = "",
        settings: Sequence[str] = (),
        engine: str = "lmdb",
        url: str = "",
    ) -> None:
        """`url`: of a store that is not in the folder."""
        self.nursery, self.folder, self.flush, self.port = nursery, folder, flush, 0
        #: The URL for committed offsets, if they are not in the main store.
        self.offsets = offsets
        self.settings = settings
        self.engine = url.partition("://")[0] or engine
        self.url = url or f"{engine}://{folder / 'data'}"
        #: Of the raw listeners; others after each start.
        self.raw_ports: list[int] = []
        self.log_file = folder / "broker.log"
        self.code: int | None = 0

    def start(self, flush: str = "", flush_interval_ms: int = 1000, **plan: Any) -> bool:
        """True once it is ready; False if it died before, at its point."""
        arguments = [
            *("serve", "--listen", f"127.0.0.1:{self.port}", "--flush", flush or self.flush),
            *("--storage", self.url, "--log-requests", "off"),
            *("--admin", "off"),
            *("--set", f"flush.interval.ms={flush_interval_ms}"),
            *("--set", "log.retention.check.interval.ms=20"),
        ]
        for setting in self.settings:
            arguments += ["--set", setting]
        if self.offsets:
            arguments += ["--set", f"offsets={self.offsets}"]
        self.code = None
        self.nursery.events.clear()
        self.nursery.order(**Plan(arguments, str(self.log_file), **plan).as_json())
        self.nursery.wait_for("started")
        event = self.nursery.wait_for("ready", "ended")
        if event["event"] == "ended":
            self.code = event["code"]
            return False
        self.port = event["port"]
        self.raw_ports = event["raw"]
        return True

    def signal(self, number: int) -> None:
        self.nursery.order(signal=int(number))

    def has_ended(self) -> bool:
        for event in self.nursery.events:
            if event["event"] == "ended":
                self.code = event["code"]
        return self.code is not None

    def wait(self, within_s: float = END_WITHIN_S) -> int:
        if self.code is None:
            self.code = self.nursery.wait_for("ended", within_s=within_s)["code"]
        assert self.code is not None
        return self.code

    def kill(self) -> None:
        if self.code is None:
            self.signal(signal.SIGKILL)
            self.wait()

    def log(self, last_bytes: int = 4_000) -> str:
        if not self.log_file.exists():
            return ""
        return self.log_file.read_bytes()[-last_bytes:].decode(errors="replace")
