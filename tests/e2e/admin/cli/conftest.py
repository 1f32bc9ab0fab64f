"""`ottla` as people run it: a process for every command, one broker for all of them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.broker_process import BrokerProcess, command, environment
from tests.e2e.conftest import unused_topic_name

PATIENCE_S = 40.0


class Said:
    """What a command printed, and how it ended."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.code = done.returncode
        self.raw = done.stdout
        self.out = done.stdout.decode(errors="replace")
        self.errors = done.stderr.decode()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def rows(self) -> list[list[str]]:
        """Of a table, without its head."""
        return [line.split() for line in self.lines[1:]]


class Ottla:
    """Runs commands against one broker."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def run(self, *arguments: str, stdin: bytes = b"", code: int = 0) -> Said:
        done = subprocess.run(
            command(*arguments),
            input=stdin,
            env=environment() | {"OTTLA_BOOTSTRAP": self.bootstrap},
            capture_output=True,
            timeout=PATIENCE_S,
        )
        said = Said(done)
        assert said.code == code, f"{arguments} ended with {said.code}:\n{said.out}\n{said.errors}"
        assert "Traceback" not in said.errors, said.errors
        return said

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command(*arguments),
            env=environment() | {"OTTLA_BOOTSTRAP": self.bootstrap},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture(scope="session")
def cli_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path_factory.mktemp("cli-broker"), "memory") as broker:
        yield broker


@pytest.fixture
def ottla(cli_broker: BrokerProcess) -> Ottla:
    return Ottla(cli_broker.bootstrap)


@pytest.fixture
def name() -> str:
    return unused_topic_name()


@pytest.fixture(scope="session")
def filled_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that a broker has filled and left."""
    with BrokerProcess(tmp_path_factory.mktemp("filled-store")) as broker:
        cli = Ottla(broker.bootstrap)
        cli.run("topic", "create", "orders", "-p", "2", "-c", "retention.ms=86400000")
        cli.run("produce", "-t", "orders", "-K", ":", "-p", "1", stdin=b"a:1\nb:2\nc:3\n")
        cli.run("produce", "-t", "orders", "-z", "zstd", "-p", "1", stdin=b"x" * 50 + b"\n")
        cli.run("consume", "orders", "-g", "readers", "-n", "2")
        assert broker.terminate() == 0
    return broker.folder / "data"


@pytest.fixture
def store(filled_store: Path, tmp_path: Path) -> Path:
    """One like it that is the test's own."""
    return Path(shutil.copytree(filled_store, tmp_path / "data"))


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    file = tmp_path / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
            *("-subj", "/CN=localhost", "-keyout", str(file), "-out", str(tmp_path / "public")),
        ],
        check=True,
        capture_output=True,
    )
    file.write_bytes(file.read_bytes() + (tmp_path / "public").read_bytes())
    return file
