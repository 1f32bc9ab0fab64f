"""BrokerProcess: `ottla serve` in a child process, for the time of a `with` block.

The parent configures the child by its command line. A byte on its stdin, a pipe, or the end of it,
makes the child drain and exit, so that the broker does not outlive a killed test run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, ClassVar

from interfaces.embed.aio import WithBlock
from interfaces.embed.rest import Rest

READY_POLL_S = 0.005

#: Longer than the child takes to drain.
STOP_TIMEOUT_S = 15.0

#: The import path of the parent comes first over the pipe.
BOOT = (
    "import json, runpy, sys; sys.path[:] = json.loads(sys.stdin.buffer.raw.readline()); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


class BrokerNotStarted(RuntimeError):
    """The broker did not start; the message ends with its log."""

    __module__ = "ottla"  # as users import it, for tracebacks


class BrokerProcess(WithBlock):
    """A broker on a free port of the loopback interface.

    In memory unless `storage` (a URL) or `data` (a folder that persists) is set. `settings` are
    those of docs/settings.md; those of the environment have no effect. `admin`: with REST, on a
    free port, and the setting `testing`. `executable`, or $OTTLA_EXECUTABLE: the program to run in
    place of this package. `login`: user and password for REST, `ca`: the authority of its TLS.
    """

    #: `interfaces.main`, relative to this package.
    _main: ClassVar[str] = f"{(__package__ or '').rpartition('.')[0]}.main"

    def __init__(
        self,
        *,
        storage: str | None = None,
        data: str | os.PathLike[str] | None = None,
        settings: Mapping[str, object] | None = None,
        admin: bool = True,
        executable: str | os.PathLike[str] | None = None,
        start_timeout_s: float = 30.0,
        login: tuple[str, str] | None = None,
        ca: str | os.PathLike[str] | None = None,
    ) -> None:
        self._storage = "memory://" if storage is None and data is None else storage
        self._data = None if data is None else Path(data).absolute()
        self._settings: dict[str, object] = {"testing": True} if admin else {}
        self._settings |= settings or {}
        self._has_rest = admin
        self._executable = executable
        self._start_timeout_s = start_timeout_s
        self._login, self._ca = login, ca
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: dict[str, Any] = {}
        self._rest: Rest | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The bootstrap.servers of a client."""
        return str(self._running()["bootstrap_servers"])

    @property
    def admin_url(self) -> str:
        """The URL of REST."""
        urls = self._running()["admin_urls"]
        if not urls:
            raise RuntimeError("this broker has no REST; start it without admin=False")
        return str(urls[0])

    @property
    def raw_address(self) -> str:
        """HOST:PORT of the raw stream (`raw.listeners`)."""
        raw = self._running()["raw"]
        if not raw:
            raise RuntimeError("this broker has no raw listener")
        return str(raw[0])

    @property
    def rest(self) -> Rest:
        if self._rest is None:
            self._rest = Rest(self.admin_url, login=self._login, ca=self._ca)
        return self._rest

    @property
    def pid(self) -> int:
        return int(self._running()["pid"])

    def log(self) -> str:
        """The log of the broker so far."""
        self._running()
        return self._read_log()

    def start(self) -> None:
        if self._process is not None:
            raise RuntimeError("this broker has been started already")
        import tempfile  # a third of the cost of `import ottla`, and `ottla serve` pays it too

        self._folder = tempfile.TemporaryDirectory(prefix="ottla-", ignore_cleanup_errors=True)
        try:
            with self._path("log").open("wb") as log:
                self._process = self._spawn(log)
            self._ready = self._wait_until_ready(self._process)
        except BaseException:
            self.close()
            self._folder.cleanup()
            raise

    def close(self) -> None:
        """Drains and ends the broker; may be called repeatedly."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._rest is not None:
            self._rest.close()
            self._rest = None
        pipe = process.stdin
        assert pipe is not None
        try:
            # A byte: a forked process may hold the pipe open.
            pipe.write(b"\n")
            pipe.close()
        except OSError:
            pass  # it has exited
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._folder.cleanup()

    def _open(self) -> None:
        self.start()

    def _close(self) -> None:
        self.close()

    def _path(self, name: str) -> Path:
        return Path(self._folder.name, name)

    def _running(self) -> dict[str, Any]:
        if self._process is None:
            raise RuntimeError("this broker is not running; use it in a `with` block")
        return self._ready

    def _read_log(self) -> str:
        return self._path("log").read_text("utf-8", errors="replace")

    def _arguments(self) -> list[str]:
        arguments = ["serve", "--exit-with-stdin", "--ready-file", str(self._path("ready"))]
        arguments += ["--listen", "127.0.0.1:0", "--log-format", "json"]
        if "admin.listeners" not in self._settings:
            arguments += ["--admin", "127.0.0.1:0" if self._has_rest else "off"]
        # A URL without a folder must not use ./ottla-data of the user.
        if self._data is not None or (self._storage or "").endswith("://"):
            arguments += ["--data", str(self._data or self._path("data"))]
        if self._storage is not None:
            arguments += ["--storage", self._storage]
        for name, value in self._settings.items():
            arguments += ["--set", f"{name}={as_setting(value)}"]
        return arguments

    def _command(self, executable: str | os.PathLike[str] | None) -> list[str]:
        if executable is None:
            return [sys.executable, "-P", "-c", BOOT, self._main]
        path = os.path.abspath(executable)
        return [sys.executable, path] if path.endswith(".pyz") else [path]

    def _spawn(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        executable = self._executable or os.environ.get("OTTLA_EXECUTABLE")
        try:
            process = subprocess.Popen(
                [*self._command(executable), *self._arguments()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={k: v for k, v in os.environ.items() if not k.startswith(("OTTLA_", "KAFKA_"))},
                # Ctrl-C is for the parent, which closes the broker.
                start_new_session=True,
            )
        except OSError as failure:
            raise BrokerNotStarted(f"cannot run {failure.filename}: {failure.strerror}") from None
        if executable is not None:
            return process
        assert process.stdin is not None
        path = json.dumps([os.path.abspath(entry) for entry in sys.path])
        try:
            process.stdin.write(path.encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it has exited; _wait_until_ready reports why
        return process

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        ready_file = self._path("ready")
        deadline = time.monotonic() + self._start_timeout_s
        while not ready_file.exists():
            if process.poll() is not None:
                log = self._read_log().replace("command line --set", "settings=")
                raise BrokerNotStarted(f"ended with {process.returncode}:\n{log}")
            if time.monotonic() > deadline:
                waited = f"not ready after {self._start_timeout_s:g} s"
                raise BrokerNotStarted(f"{waited}:\n{self._read_log()}")
            time.sleep(READY_POLL_S)
        ready: dict[str, Any] = json.loads(ready_file.read_bytes())
        return ready


def as_setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
