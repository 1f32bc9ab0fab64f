"""Kafka Streams with `exactly_once_v2`: each word is counted once while brokers and client die."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest

from tests.e2e import test_java
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import StartBrokers
from tests.e2e.librdkafka import PATIENCE_S, assigned_consumer, producer
from tests.e2e.line_process import LineProcess

WORDS = ("broker", "consumer", "offset", "partition", "producer")
#: Between two deaths.
COUNTS = 300
SHORT_SESSIONS = ("--set", "group.min.session.timeout.ms=500")


class Writer(threading.Thread):
    """Sends sentences until it is stopped, through all restarts of brokers."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self.words: Counter[str] = Counter()
        self.stopped = threading.Event()
        self.inner = producer(bootstrap, enable_idempotence=True, reconnect_backoff_max_ms=200)

    def run(self) -> None:
        chance = random.Random(1)
        while not self.stopped.wait(0.002):
            words = chance.choices(WORDS, k=3)
            self.words.update(words)
            self.inner.produce("sentences", " ".join(words), str(chance.random()))
            self.inner.poll(0)

    def stop(self) -> None:
        self.stopped.set()
        self.join()
        assert self.inner.flush(PATIENCE_S) == 0


class Application:
    def __init__(self, bootstrap: str, folder: Path) -> None:
        program = test_java.compiled(
            test_java.VERSIONS[0], test_java.WORD_COUNT, test_java.APPLICATIONS
        )
        self.command = [*program, bootstrap, str(folder / "state")]
        self.log = folder / "stderr"
        self.process = LineProcess(self.command, self.log)

    def restart(self) -> None:
        self.close()
        self.process = LineProcess(self.command, self.log)

    def close(self) -> None:
        """By SIGKILL."""
        self.process.process.kill()
        self.process.close()

    def errors(self) -> str:
        return self.process.complaints()


@pytest.mark.long
@pytest.mark.timeout(240)
def test_words_are_counted_exactly_once(start_brokers: StartBrokers, tmp_path: Path) -> None:
    brokers = start_brokers(*SHORT_SESSIONS)
    brokers.create_topic("sentences", 2)
    brokers.create_topic("counts")
    in_turn = cycle(brokers.all)

    def restart_broker(end: Callable[[BrokerProcess], object]) -> None:
        brokers.restart(next(in_turn), end)

    counts: dict[str, list[int]] = defaultdict(list)
    level = {"isolation_level": "read_committed", "reconnect_backoff_max_ms": 200}
    writer = Writer(brokers.bootstrap)
    with (
        assigned_consumer(brokers.bootstrap, "counts", **level) as consumer,
        closing(Application(brokers.bootstrap, tmp_path)) as application,
    ):

        def read(end: int) -> None:
            deadline = time.monotonic() + 2 * PATIENCE_S
            while (found := sum(map(len, counts.values()))) < end:
                assert time.monotonic() < deadline, f"{found} of {end}\n{application.errors()}"
                for record in consumer.consume(100, 0.1):
                    if record.error() is None:
                        counts[record.key().decode()].append(int(record.value()))

        deaths: list[Callable[[], object]] = [
            partial(restart_broker, BrokerProcess.kill),
            application.restart,
            partial(restart_broker, BrokerProcess.terminate),
        ]
        writer.start()
        for number, death in enumerate(deaths * 3, 1):
            read(COUNTS * number)
            death()
        writer.stop()
        read(writer.words.total())
        assert consumer.consume(1, 0.5) == []
    assert counts == {word: list(range(1, n + 1)) for word, n in writer.words.items()}
    brokers.terminate()
    assert "Traceback" not in brokers.log(sys.maxsize)
