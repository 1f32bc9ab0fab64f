"""Ottla as its users run it: a process of its own, on a port the system chose."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.e2e.raw_client import RawClient

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30.0


class Address(NamedTuple):
    host: str
    port: int

    @property
    def bootstrap(self) -> str:
        return f"{self.host}:{self.port}"

    def connect(self, patience_s: float = PATIENCE_S, source: str = "") -> RawClient:
        """`source`: the address of this side."""
        return RawClient(self.host, self.port, patience_s, source)


#: For brokers of whole sessions: records of tests have any timestamps, and must not expire.
NOTHING_EXPIRES = ("--set", "log.retention.check.interval.ms=86400000")


class BrokerDied(AssertionError):
    """The process ended before it was ready; its log says why."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "interfaces.main", *arguments]


def environment() -> dict[str, str]:
    """Ours, without settings that a developer's shell may hold."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OTTLA_", "KAFKA_"))}
    return inherited | {"PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}


def wait_until(holds: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """For what no event announces."""
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class BrokerProcess:
    """One run after another over the same data folder and, once known, the same port."""

    def __init__(
        self,
        folder: Path,
        engine: str = "lmdb",
        arguments: Sequence[str] = (),
        *,
        program: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """`program`: an installed one instead of the checkout; `variables`: its environment."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.engine, self.arguments = folder, engine, list(arguments)
        self.program = list(program) or command()
        self.variables = environment() if variables is None else dict(variables)
        self.log_file, self.ready_file = folder / "broker.log", folder / "ready.json"
        self.address = Address("127.0.0.1", 0)
        self.process: subprocess.Popen[bytes] | None = None
        self.ready: dict[str, Any] = {}

    @property
    def storage(self) -> str:
        """The URL, which an engine may be; the engine "default" stands for no option."""
        if "://" in self.engine:
            return self.engine
        if self.engine == "memory":
            return "memory://"
        scheme = "files" if self.engine == "files" else "lmdb"
        return f"{scheme}://{self.folder / 'data'}"

    @property
    def bootstrap(self) -> str:
        return self.address.bootstrap

    @property
    def admin(self) -> Address:
        """Of one that was started with --admin 127.0.0.1:0."""
        host, _, port = self.ready["admin"][0].rpartition(":")
        return Address(host, int(port))

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def connect(self, patience_s: float = PATIENCE_S) -> RawClient:
        return self.address.connect(patience_s)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: object, *_failure: object) -> None:
        self.kill()
        if kind is not None:
            sys.stderr.write(f"--- log of the broker in {self.folder}\n{self.log()}\n")

    def spawn(self) -> subprocess.Popen[bytes]:
        self.ready_file.unlink(missing_ok=True)  # of a run that was killed
        listen = [] if "--listen" in self.arguments else ["--listen", self.bootstrap]
        storage = [] if self.engine == "default" else ["--storage", self.storage]
        admin = [] if "--admin" in self.arguments else ["--admin", "off"]
        options = [*listen, *admin, *storage, "--ready-file", str(self.ready_file), *self.arguments]
        with self.log_file.open("ab") as log:
            return subprocess.Popen(
                [*self.program, "serve", *options],
                cwd=self.folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def start(self) -> None:
        self.process = self.spawn()
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        assert self.process is not None
        for _ in range(int(PATIENCE_S / 0.02)):
            if self.ready_file.exists():
                break
            try:
                code = self.process.wait(timeout=0.02)
            except subprocess.TimeoutExpired:
                continue
            raise BrokerDied(f"exit {code} before it was ready:\n{self.log()}")
        else:
            self.kill()
            raise BrokerDied(f"not ready after {PATIENCE_S} s:\n{self.log()}")
        self.ready = json.loads(self.ready_file.read_text())
        first = self.ready["listeners"][0]
        self.address = Address(first["host"], first["port"])

    def terminate(self) -> int:
        """SIGTERM, and the exit code once it has drained."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"SIGTERM did not end it:\n{self.log()}") from None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def resident_anonymous_kib(self) -> int:
        """Memory that is the process's own: mapped pages of the store are the system's cache."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
        raise AssertionError("no RssAnon in /proc")

    def log_line(self, word: str) -> str:
        """The one that has this word, once it is there: a thread of the broker writes them."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            whole, _, _ = self.log().rpartition("\n")
            found = [line for line in whole.splitlines() if word in line]
            if found:
                [line] = found
                return line
            time.sleep(0.01)
        raise AssertionError(f"no line of the log has {word!r}:\n{self.log()}")

    def log(self, last_bytes: int = 20_000) -> str:
        if not self.log_file.exists():
            return ""
        return self.log_file.read_bytes()[-last_bytes:].decode(errors="replace")
