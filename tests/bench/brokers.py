"""Brokers to measure: Ottla, or Apache Kafka from a folder of jars, each a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

READY_TIMEOUT_S = 60
_KAFKA_PROPERTIES = """
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
log.dirs={folder}/data
offsets.topic.replication.factor=1
log.flush.interval.messages={flush}
"""
_EVERY_MESSAGE, _NEVER = 1, 2**63 - 1


class Broker:
    def __init__(self, process: subprocess.Popen[bytes], address: str, ready_s: float) -> None:
        self.process = process
        self.address = address
        self.ready_s = ready_s

    def memory_mb(self) -> dict[str, float]:
        """Resident memory, and the part of it that is not pages of files (Linux only)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return {name: int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon")}

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Contender:
    """A way to run a broker: `start` gives a new one, on an empty folder."""

    def __init__(
        self,
        name: str,
        start: Callable[[Path], Broker],
        grows: bool = False,
        warm_up_s: float = 0.2,
    ) -> None:
        self.name = name
        self._start = start
        #: Keeps all that it is sent in memory: every load gets a new one.
        self.grows = grows
        self.warm_up_s = warm_up_s

    def start(self, folder: Path) -> Broker:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return self._start(folder)


def ottla(storage: str, flush: str, *options: str) -> Contender:
    def start(folder: Path) -> Broker:
        ready = folder / "ready.json"
        where = ["--storage", "memory://"] if storage == "memory" else ["--data", f"{folder}/data"]
        started = time.perf_counter()
        process = _spawn(
            folder,
            *(sys.executable, "-m", "interfaces.main", "serve", "--listen", "127.0.0.1:0"),
            *("--ready-file", str(ready), "--log-requests", "off", "--flush", flush),
            *where,
            *options,
        )
        _wait(process, ready.exists, folder)
        elapsed = time.perf_counter() - started
        [listener, *_] = json.loads(ready.read_text())["listeners"]
        return Broker(process, f"127.0.0.1:{listener['port']}", elapsed)

    name = f"ottla {storage}" if storage == "memory" else f"ottla {storage} {flush}"
    return Contender(name, start, grows=storage == "memory")


def kafka(libs: Path, flush: str) -> Contender:
    def start(folder: Path) -> Broker:
        port, controller = _free_port(), _free_port()
        properties = folder / "server.properties"
        every = _EVERY_MESSAGE if flush == "commit" else _NEVER
        properties.write_text(
            _KAFKA_PROPERTIES.format(port=port, controller=controller, folder=folder, flush=every)
        )
        java = ["java", "-Xms1g", "-Xmx1g", "-cp", f"{libs}/*"]
        tool = [*java, "kafka.tools.StorageTool"]
        cluster = subprocess.check_output([*tool, "random-uuid"], stderr=subprocess.DEVNULL)
        subprocess.run(
            [*tool, "format", "--standalone", "-t", cluster.decode().strip(), "-c", properties],
            check=True,
            capture_output=True,
        )
        started = time.perf_counter()
        process = _spawn(folder, *java, "kafka.Kafka", str(properties))
        _wait(process, lambda: _answers(port), folder)
        return Broker(process, f"127.0.0.1:{port}", time.perf_counter() - started)

    return Contender(f"kafka {flush}", start, warm_up_s=10)


def _spawn(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )


def _wait(process: subprocess.Popen[bytes], ready: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            said = (folder / "output").read_text()[-2000:]
            raise SystemExit(f"The broker did not start:\n{said}")
        time.sleep(0.002)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    """Whether an ApiVersions request is answered; the port alone opens before that."""
    request = b"\0\x12\0\0\0\0\0\x01\xff\xff"
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(len(request).to_bytes(4, "big") + request)
            return len(connection.recv(4)) == 4
    except OSError:
        return False


def machine() -> dict[str, object]:
    return {
        "cpus": os.cpu_count(),
        "python": sys.version.split()[0],
        "platform": sys.platform,
    }
