"""`ottla serve` as a user starts it: what it refuses, in one line, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PATIENCE_S = 30

# ApiVersions v0 with correlation id 7 and no client id.
API_VERSIONS = bytes.fromhex("0000000a" "0012" "0000" "00000007" "ffff")  # fmt: skip


def command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "interfaces.main", "serve", *words]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def refused(folder: Path, *words: str) -> tuple[int, str]:
    ended = subprocess.run(
        command(*words),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.stdout == ""
    return ended.returncode, ended.stderr


class Serving:
    def __init__(self, process: subprocess.Popen[str], ready: dict[str, Any]) -> None:
        self.process = process
        self.ready = ready

    @property
    def address(self) -> tuple[str, int]:
        [listener] = self.ready["listeners"]
        return listener["host"], listener["port"]


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[Serving]:
    """The line "started" comes after the ready file, so nobody need look for that twice."""
    options = ("--listen", "127.0.0.1:0", "--ready-file", "ready.json", *words)
    with subprocess.Popen(
        command(*options), cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            while '"started"' not in (line := process.stderr.readline()):
                assert line, "it ended before it started"
            yield Serving(process, json.loads((folder / "ready.json").read_text()))
        finally:
            process.kill()


def exchange(connection: socket.socket) -> bytes:
    connection.sendall(API_VERSIONS)
    return connection.recv(8)


def test_clients_are_answered_once_the_ready_file_is_there(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        assert broker.ready["pid"] == broker.process.pid
        assert broker.ready["data"] == str(tmp_path / "ottla-data")
        assert len(broker.ready["cluster_id"]) == 22
        with socket.create_connection(broker.address, PATIENCE_S) as connection:
            assert exchange(connection)[4:8] == b"\0\0\0\7"


def test_sigterm_ends_it_in_good_order_with_clients_connected(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as broker,
        socket.create_connection(broker.address, PATIENCE_S) as connection,
    ):
        exchange(connection)
        broker.process.send_signal(signal.SIGTERM)
        assert broker.process.wait(PATIENCE_S) == 0
        assert not (tmp_path / "ready.json").exists()
        assert broker.process.stderr is not None
        rest = broker.process.stderr.read().splitlines()
    assert [json.loads(line)["event"] for line in rest] == ["stopping", "stopped"]


def test_the_cluster_id_outlives_a_restart(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        with serving(tmp_path) as broker:
            ids.append(broker.ready["cluster_id"])
            broker.process.send_signal(signal.SIGTERM)
            broker.process.wait(PATIENCE_S)
    assert ids[0] == ids[1]


def test_a_busy_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        code, said = refused(tmp_path, "--listen", address, "--storage", "memory://")
    assert code == 1
    assert said.startswith(f"ottla: cannot listen on {address}: another process does")
    assert len(said.splitlines()) == 1


def test_a_data_folder_in_use_is_one_line(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        code, said = refused(tmp_path, "--listen", "127.0.0.1:0")
        assert code == 1
        assert said.startswith("ottla: cannot open lmdb://")
        assert f"in use by process {broker.process.pid}" in said
        assert len(said.splitlines()) == 1


def test_a_wrong_value_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    code, said = refused(tmp_path, "--flush", "sometimes")
    assert code == 2
    assert said == (
        "ottla: flush = 'sometimes' (command line --flush) is not allowed: "
        "expected one of commit, interval, os\n"
    )
