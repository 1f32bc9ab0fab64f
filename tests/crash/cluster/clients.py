"""Producers of the Java client and of KafkaJS, beside those of librdkafka."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from tests.crash.cluster.attempts import Outcome
from tests.crash.cluster.history import History
from tests.crash.cluster.load import AnySender, wait_for
from tests.crash.cluster.transactions import TransactionalSender
from tests.e2e import test_java
from tests.e2e.cluster.clients import java_producer, kafkajs_producer
from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command

PLAIN_JAVA = ("enable.idempotence=false", "max.in.flight.requests.per.connection=1")
#: Of a broker that is paused.
JAVA = ("request.timeout.ms=5000", "retry.backoff.max.ms=200", "reconnect.backoff.max.ms=200")
#: It gives up after five retries by default.
KAFKAJS = {
    "requestTimeout": 5000,
    "retry": {"initialRetryTime": 50, "maxRetryTime": 500, "retries": 240},
}
#: Names in values.
IDEMPOTENT = ("java", "kafkajs")
FLUSHES_S = 60.0


class Place(NamedTuple):
    """Of processes, which end with `stack`."""

    folder: Path
    bootstrap: str
    partitions: int
    stack: ExitStack


def senders(place: Place, topic: str, history: History) -> list[ClientSender]:
    """Their processes wait for lines."""

    def kafkajs(**producer: object) -> str:
        return json.dumps({"reports": True, "client": KAFKAJS, "producer": producer})

    settings: dict[str, Sequence[str]] = {
        "java": JAVA,
        "java-plain": (*JAVA, *PLAIN_JAVA),
        "kafkajs": [kafkajs(idempotent=True)],
        "kafkajs-plain": [kafkajs()],
    }
    found = []
    for name, of_client in settings.items():
        start = java_producer if name.startswith("java") else kafkajs_producer
        request = ("start", place.bootstrap, topic, str(place.partitions), name, *of_client)
        process = start(place.folder / name)
        found.append(ClientSender(name, process, "\t".join(request), place.partitions, history))
        place.stack.callback(found[-1].end)
    return found


class ClientSender(AnySender):
    """A process, which prints what was acknowledged."""

    def __init__(
        self, name: str, process: LineProcess, start: str, count: int, history: History
    ) -> None:
        super().__init__(name, count, history)
        self._process, self._start_line = process, start
        self._outcome = threading.Event()

    def repeat(self) -> None:
        self._request(self._start_line)
        for line in self._process.responses:
            if line.startswith(b"{"):
                self._has_stopped(json.loads(line))
            elif line != b"ok\n":
                partition, offset, value = line.decode().split()
                self.acknowledged(int(partition), int(offset), value)
        if not self._outcome.is_set() and not self.enough.is_set():
            self.errors.append(f"{self._name} ended: {self._process.complaints()}")

    def _has_stopped(self, outcome: dict[str, object]) -> None:
        """Only now it is known what was sent."""
        sent, errors = outcome["sent"], outcome["errors"]
        assert isinstance(sent, int)
        assert isinstance(errors, list)
        for number in range(sent):
            self._history.sent(number % self._count, f"{self._name}:{number}")
        self.errors += [f"{self._name}: {error}" for error in errors]
        if sent != self.count + len(errors):
            self.errors.append(f"{self._name}: {sent} sent, {self.count} acknowledged")
        self._outcome.set()

    @property
    def _has_ended(self) -> bool:
        return self._process.process.poll() is not None

    def _request(self, line: str) -> None:
        self._process.requests.write(line.encode() + b"\n")
        self._process.requests.flush()

    def stop(self) -> None:
        try:
            self._request("stop")
            if not wait_for(lambda: self._outcome.is_set() or self._has_ended, FLUSHES_S):
                self.errors.append(f"{self._name}: records have no response")
        except BrokenPipeError:
            self.errors.append(f"{self._name} has ended")
        self.end()

    def end(self) -> None:
        self.enough.set()
        if not self._process.requests.closed:
            with suppress(BrokenPipeError):
                self._process.requests.close()
            if not wait_for(lambda: self._has_ended, 10.0):
                self._process.process.kill()
            if self.ident is not None:
                self.join()
            self._process.close()


def transactional_senders(place: Place, topic: str) -> list[ClientTransactions]:
    java = test_java.compiled(test_java.VERSIONS[0], test_java.FOLDER / "Transactions.java")
    node, where = kafkajs_command("transactions.js")
    found = []
    for name, command, extra in (("java-t", java, {}), ("kafkajs-t", node, where)):
        process = LineProcess(command, place.folder / name, os.environ | extra)
        place.stack.callback(process.close)
        found.append(ClientTransactions(name, place.bootstrap, topic, place.partitions, process))
    return found


class Failed(Exception):
    """A verb of tests/e2e/transactions/lines.py."""


class ClientTransactions(TransactionalSender):
    """Without offsets. After any failure there is a new producer, which ends what was open."""

    def __init__(
        self, name: str, bootstrap: str, topic: str, count: int, process: LineProcess
    ) -> None:
        super().__init__(name, bootstrap, topic, count)
        self._servers, self._process = bootstrap, process

    def repeat(self) -> None:
        while not self.enough.is_set():
            with self.turn:
                if not self._has_new_producer():
                    continue
            is_open = True
            while is_open and not self.enough.wait(0.02):
                with self.turn:
                    is_open = self._has_ended_one()
        if not wait_for(self._has_new_producer, FLUSHES_S):  # nothing stays open
            self.errors.append(f"{self._name}: no new producer: {self.failures}")

    def stop(self) -> None:
        self.enough.set()
        self.join()

    def end(self) -> None:
        """At once."""
        self.enough.set()
        self._process.process.kill()

    def _has_new_producer(self) -> bool:
        self.starts += 1
        try:
            self._call("producer", self._name, 60_000)
            # KafkaJS gets its epoch here.
            self._call("begin")
            self._call("abort")
        except Failed:
            return False
        return True

    def _has_ended_one(self) -> bool:
        attempt, is_aborted = self.new_attempt(has_offset=False)
        try:
            self._call("begin")
            for index in attempt.indexes:
                self._call("send", self._topic, index, attempt.name)
            if is_aborted:
                self._call("abort")
            else:
                attempt.outcome = Outcome.UNKNOWN
                self._call("commit")
                attempt.outcome = Outcome.COMMITTED
        except Failed:
            return False
        self.newest_s = time.monotonic()
        return True

    def _call(self, verb: str, *fields: str | int) -> None:
        line = "\t".join(map(str, (verb, self._servers, self._name, *fields)))
        outcome, *why = self._process.request(line).split("\t")
        if outcome != "ok":
            self.failures[f"{verb} {' '.join(why)[:100]}"] += 1
            raise Failed(*why)
