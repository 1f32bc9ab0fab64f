"""A temporary PostgreSQL from the system's package, on a Unix socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.e2e.broker_process import wait_until
from tests.fakes.moved_clock import moved_by

USER = "postgres"
START_TIMEOUT_S = 60


class PostgresNotFound(Exception):
    """PostgreSQL is not installed; says why."""


class Postgres:
    """Started with `start`; its data survives `stop`, until `remove`."""

    def __init__(
        self,
        durable: bool = False,
        primary: Postgres | None = None,
        disk_mib: int | None = None,
        has_clock: bool = False,
    ) -> None:
        """Of a `primary` it is a standby. `disk_mib`: on a disk of its own, which can be full;
        `has_clock`: of its own, which can be moved.
        """
        self._durable, self._disk_mib, self._has_clock = durable, disk_mib, has_clock
        self._stack = ExitStack()
        self.standby: Postgres | None = None
        self._programs = _programs()
        # Short: socket paths have a length limit.
        self.folder = Path(tempfile.mkdtemp(prefix="ottla-pg-"))
        self._data = self._seen_data = self.folder / "data"
        #: Before each program.
        self._in_its_place: list[str] = []
        self._settings = f"listen_addresses='' unix_socket_directories={self.folder}".split()
        self._settings += f"fsync={_on(durable)} wal_retrieve_retry_interval=100ms".split()
        if os.geteuid() == 0:
            shutil.chown(self.folder, USER, USER)
        if disk_mib is not None:
            self._mount(disk_mib)
        if has_clock:
            self.move_clock(0)
        new = "-D", str(self._data), "-U", USER, "--no-sync"
        if primary is None:
            # So that a full disk has no place for the WAL, too.
            more = () if disk_mib is None else ("--wal-segsize=1",)
            self._run("initdb", *new, *more, "-A", "trust")
        else:
            self._run("pg_basebackup", *new, "-h", str(primary.folder), "-R", "-c", "fast")

    def _mount(self, size_mib: int) -> None:
        from tests.fakes.small_disk import mounted_tmpfs

        disk = self.folder / "disk"
        disk.mkdir()
        holder = self._stack.enter_context(mounted_tmpfs(disk, size_mib))
        self._in_its_place = ["nsenter", "--mount", "--target", str(holder)]
        self._data, self.disk = disk / "data", Path(f"/proc/{holder}/root{disk}")
        self._seen_data = self.disk / "data"
        self._settings += ["min_wal_size=2MB", "max_wal_size=32MB", "wal_keep_size=16MB"]

    def move_clock(self, by_s: float) -> None:
        """From the time that it is, at once and until it is moved again."""
        new = self._clock.with_suffix(".new")
        new.write_text(f"{by_s:+.3f}\n")
        new.rename(self._clock)

    @property
    def _clock(self) -> Path:
        return self.folder / "clock"

    @property
    def is_running(self) -> bool:
        return (self._seen_data / "postmaster.pid").exists()

    def start_if_ended(self) -> None:
        """Until it responds: it may just end, or start again."""
        import psycopg

        def responds() -> bool:
            if not self.is_running:
                self.start()
            with suppress(psycopg.OperationalError):
                self.execute("select 1")
                return True
            return False

        wait_until(responds, START_TIMEOUT_S)

    def start(self) -> None:
        options = " ".join(f"-c {one}" for one in self._settings)
        self._run(
            "pg_ctl", "-D", str(self._data), "-l", str(self.folder / "log"), "-w",
            "-t", str(START_TIMEOUT_S), "-o", options, "start",
        )  # fmt: skip

    @property
    def pids(self) -> list[int]:
        """Of the process whose children are the others, and that of the standby."""
        own = int((self._seen_data / "postmaster.pid").read_text().split()[0])
        return [own, *(self.standby.pids if self.standby else ())]

    def start_standby(self) -> None:
        """From now on each commit waits until the standby has flushed it."""
        self.standby = Postgres(self._durable, self, self._disk_mib, self._has_clock)
        self.standby.start()
        self.connect_standby()

    def connect_standby(self) -> None:
        assert self.standby is not None
        self.standby._set("primary_conninfo", f"host={self.folder} user={USER}")
        self._set("synchronous_standby_names", "*")
        self.wait_for_standby()

    def wait_for_standby(self) -> None:
        """Until it has what is committed."""
        synchronous = "select 1 from pg_stat_replication where sync_state = 'sync'"
        wait_until(lambda: self.execute(synchronous) == [(1,)], START_TIMEOUT_S)

    def cut_off_standby(self) -> None:
        """It gets nothing any more, and commits wait for it."""
        assert self.standby is not None
        self.standby._set("primary_conninfo", "")
        wait_until(lambda: not self.execute("select 1 from pg_stat_replication"), START_TIMEOUT_S)

    def commit_alone(self) -> None:
        """Without waiting for the standby."""
        self._set("synchronous_standby_names", "")

    def promoted(self) -> Postgres:
        """This server is lost with its disk; its standby, which goes on."""
        assert self.standby is not None
        standby = self.standby
        self.stop()
        standby.commit_alone()
        standby._run("pg_ctl", "-D", str(standby._data), "-w", "promote")
        self.standby = None
        self.remove()
        return standby

    def _set(self, name: str, value: str) -> None:
        self.execute(f"alter system set {name} = '{value}'", "select pg_reload_conf()")

    def stop(self, mode: str = "immediate") -> None:
        """At once, as after a kill; "fast": after a checkpoint."""
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "stop")

    def remove(self) -> None:
        if self.standby is not None:
            self.standby.remove()
        if self.is_running:
            self.stop()
        self._stack.close()
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
        command = [*self._in_its_place, *_as_another()]
        if self._has_clock:
            command += ["env", *(f"{name}={one}" for name, one in moved_by(self._clock).items())]
        command += [str(self._programs / program), *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            # The server would have the pipe, too.
            stdout=subprocess.DEVNULL if program == "pg_ctl" else subprocess.PIPE,
            stderr=subprocess.DEVNULL if program == "pg_ctl" else subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            log = self.folder / "log"
            reason = log.read_text() if log.exists() else done.stdout
            raise AssertionError(f"{program} failed: {reason}")


def _on(value: bool) -> str:
    return "on" if value else "off"


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
