"""Values that are numbers, so that their count gives all produced values."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.e2e.librdkafka import PATIENCE_S, producer

PACE_S = 0.003


class Numbers:
    """Produces 0, 1, 2, ... to each partition of the topics in turn."""

    def __init__(self, bootstrap: str, *topics: str, partitions: int = 1) -> None:
        self.sender = producer(bootstrap, reconnect_backoff_max_ms=200)
        self.places = [(topic, p) for p in range(partitions) for topic in topics]
        self.produced = 0

    def all(self) -> list[str]:
        return [str(number) for number in range(self.produced)]

    def produce(self, count: int) -> list[str]:
        for _ in range(count):
            self._produce_next()
        assert self.sender.flush(PATIENCE_S) == 0, "messages without a report"
        return self.all()[-count:]

    def _produce_next(self) -> None:
        topic, partition = self.places[self.produced % len(self.places)]
        self.sender.produce(topic, str(self.produced), partition=partition)
        self.produced += 1

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Produces one every few milliseconds meanwhile; at the end all are acknowledged."""
        enough = threading.Event()

        def flow() -> None:
            while not enough.wait(PACE_S):
                self._produce_next()
                self.sender.poll(0)

        thread = threading.Thread(target=flow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            enough.set()
            thread.join(PATIENCE_S)
        assert self.sender.flush(PATIENCE_S) == 0, "messages without a report"
