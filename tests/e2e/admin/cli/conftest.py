"""`ottla` against a real broker. Most commands run in this process: it is ten times faster."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import pytest

from interfaces.main.__main__ import main
from tests.e2e.broker_process import NOTHING_EXPIRES, BrokerProcess, command, environment
from tests.e2e.conftest import unused_topic_name
from tests.e2e.raw_client import batch

PATIENCE_S = 40.0


class Output:
    def __init__(self, code: int, out: bytes, errors: bytes) -> None:
        self.code = code
        self.raw = out
        self.out = out.decode(errors="replace")
        self.errors = errors.decode()

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

    def run(self, *arguments: str, stdin: bytes = b"", code: int = 0) -> Output:
        with tempfile.TemporaryFile() as source, _text_file() as out, _text_file() as errors:
            source.write(stdin)
            source.seek(0)
            ended = self.main(arguments, source, out, errors)
            done = Output(ended, _written(out), _written(errors))
        assert done.code == code, f"{arguments} ended with {done.code}:\n{done.out}\n{done.errors}"
        return done

    def main(
        self, arguments: Sequence[str], stdin: object, out: io.TextIOWrapper, errors: object
    ) -> int:
        """In this process; returns the exit code."""
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with (
                patch.multiple(sys, stdin=stdin, stdout=out, stderr=errors),
                patch.dict(os.environ, OTTLA_BOOTSTRAP=self.bootstrap),
            ):
                return main(arguments)
        except SystemExit as usage:
            return int(usage.code or 0)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """In a process of its own."""
        return subprocess.Popen(
            command(*arguments),
            env=environment() | {"OTTLA_BOOTSTRAP": self.bootstrap},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def _text_file() -> io.TextIOWrapper:
    return io.TextIOWrapper(tempfile.TemporaryFile(), encoding="utf-8")


def _written(file: io.TextIOWrapper) -> bytes:
    file.flush()
    file.seek(0)
    return file.buffer.read()


@pytest.fixture(scope="session")
def cli_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path_factory.mktemp("cli-broker"), "memory", NOTHING_EXPIRES) as broker:
        yield broker


def create_filled(broker: BrokerProcess, topic: str, *partitions: Sequence[bytes]) -> None:
    """A topic with these values in its partitions. Idempotent producers take half a second."""
    with broker.connect() as client:
        assert client.create_topic(topic, len(partitions)) == 0
        for index, values in enumerate(partitions):
            if values:
                assert client.produce(topic, batch(values), index).error == 0


@pytest.fixture
def ottla(cli_broker: BrokerProcess) -> Ottla:
    return Ottla(cli_broker.bootstrap)


@pytest.fixture
def name() -> str:
    return unused_topic_name()


@pytest.fixture(scope="session")
def filled_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a broker that has stopped."""
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
    """A copy for one test."""
    return Path(shutil.copytree(filled_store, tmp_path / "data"))
