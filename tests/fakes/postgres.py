"""A temporary PostgreSQL from the system's package, on a Unix socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

USER = "postgres"
START_TIMEOUT_S = 60


class PostgresNotFound(Exception):
    """PostgreSQL is not installed; says why."""


class Postgres:
    """Started with `start`; its data survives `stop`, until `remove`."""

    def __init__(self, durable: bool = False) -> None:
        self._fsync = "on" if durable else "off"
        self._programs = _programs()
        # Short: socket paths have a length limit.
        self.folder = Path(tempfile.mkdtemp(prefix="ottla-pg-"))
        self._data = self.folder / "data"
        if os.geteuid() == 0:
            shutil.chown(self.folder, USER, USER)
        self._run("initdb", "-D", str(self._data), "-U", USER, "-A", "trust", "--no-sync")

    @property
    def is_running(self) -> bool:
        return (self._data / "postmaster.pid").exists()

    def start(self) -> None:
        options = (
            f"-c listen_addresses='' -c unix_socket_directories={self.folder} "
            f"-c fsync={self._fsync}"
        )
        self._run(
            "pg_ctl", "-D", str(self._data), "-l", str(self.folder / "log"), "-w",
            "-t", str(START_TIMEOUT_S), "-o", options, "start",
        )  # fmt: skip

    def stop(self, mode: str = "immediate") -> None:
        """At once, as after a kill; "fast": after a checkpoint."""
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "stop")

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, schema: str = "public", user: str = USER, password: str = "") -> str:
        secret = f":{password}" if password else ""
        return (
            f"postgresql://{user}{secret}@/postgres?host={self.folder}"
            f"&options=-csearch_path%3D{schema}"
        )

    def execute(self, *statements: str) -> list[tuple[object, ...]]:
        """As its owner, each for itself; the rows of the last one, if it has any."""
        import psycopg

        with psycopg.connect(
            host=str(self.folder), user=USER, dbname="postgres", autocommit=True
        ) as connection:
            for statement in statements:
                # The driver's own error.
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str) -> None:
        command = [*_as_another(), str(self._programs / program), *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if program == "initdb" else subprocess.DEVNULL,
            text=True,
        )
        if done.returncode:
            log = self.folder / "log"
            reason = log.read_text() if log.exists() else done.stdout
            raise AssertionError(f"{program} failed: {reason}")


def _as_another() -> Sequence[str]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return ()
    return ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path is None:
        raise PostgresNotFound("no PostgreSQL on this machine (Debian: postgresql)")
    return Path(on_path).parent
