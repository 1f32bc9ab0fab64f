"""Kafka Streams with `exactly_once_v2`: each word is counted once while broker and client die."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e import test_java
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import StartBroker
from tests.e2e.librdkafka import PATIENCE_S, assigned_consumer, producer
from tests.e2e.line_process import LineProcess

WORDS = ("broker", "consumer", "offset", "partition", "producer")
#: Between two deaths.
COUNTS = 300
SHORT_SESSIONS = ("--set", "group.min.session.timeout.ms=500")


class Writer(threading.Thread):
    """Sends sentences until it is stopped, through all restarts of the broker."""

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
    def __init__(self, broker: BrokerProcess, folder: Path) -> None:
        program = test_java.compiled(
            test_java.VERSIONS[0], test_java.WORD_COUNT, test_java.APPLICATIONS
        )
        self.command = [*program, broker.bootstrap, str(folder / "state")]
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
def test_words_are_counted_exactly_once(start_broker: StartBroker, tmp_path: Path) -> None:
    broker = start_broker(*SHORT_SESSIONS)
    with broker.connect() as client:
        assert client.create_topic("sentences", 2) == 0
        assert client.create_topic("counts") == 0

    def restart_broker(end: Callable[[], object]) -> None:
        end()
        broker.start()

    counts: dict[str, list[int]] = defaultdict(list)
    level = {"isolation_level": "read_committed", "reconnect_backoff_max_ms": 200}
    writer = Writer(broker.bootstrap)
    with (
        assigned_consumer(broker.bootstrap, "counts", **level) as consumer,
        closing(Application(broker, tmp_path)) as application,
    ):

        def read(end: int) -> None:
            deadline = time.monotonic() + 2 * PATIENCE_S
            while (found := sum(map(len, counts.values()))) < end:
                assert time.monotonic() < deadline, f"{found} of {end}\n{application.errors()}"
                for record in consumer.consume(100, 0.1):
                    if record.error() is None:
                        counts[record.key().decode()].append(int(record.value()))

        deaths: list[Callable[[], object]] = [
            lambda: restart_broker(broker.kill),
            application.restart,
            lambda: restart_broker(broker.terminate),
        ]
        writer.start()
        for number, death in enumerate(deaths * 2, 1):
            read(COUNTS * number)
            death()
        writer.stop()
        read(writer.words.total())
        assert consumer.consume(1, 0.5) == []
    assert counts == {word: list(range(1, n + 1)) for word, n in writer.words.items()}
    assert broker.terminate() == 0, broker.log()
    assert "Traceback" not in broker.log()
