"""Members of a group that read and commit while brokers die, and who watches their offsets."""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Self

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.crash.copier import QUICK
from tests.crash.repeating import Repeating
from tests.e2e.broker_process import Address
from tests.e2e.groups.churn.history import GroupChecker, Place
from tests.e2e.groups.churn.watcher import CoordinatorNotAvailable, fetched_offsets
from tests.e2e.load import Acknowledged

PAUSE_S = 0.01
#: An OffsetFetch has failed as a whole: librdkafka looks for the coordinator, but does not ask for
#: the offsets again. If the coordinator loads, only because the assignment has changed. No other
#: error of a broker is excused.
_FORGOTTEN = re.compile(
    r"Offset fetch error for 0 partition\(s\):"
    r" (Broker: (?:Not coordinator|Coordinator (?:load in progress|not available)))$"
)
#: Without a response, only because the assignment has changed.
_FORGOTTEN_WITHOUT_RESPONSE = re.compile(
    "Offset fetch error: (Local: (?:Broker transport failure|Timed out(?: in queue)?))$"
)
BATCH = 20


def commit_the_start(bootstrap: str, group: str, topic: str, partitions: int) -> None:
    """A group without an offset would begin at the end, or at the start again."""
    settings = QUICK | {"bootstrap.servers": bootstrap, "group.id": group}
    with closing(Consumer(settings)) as client:
        first = [TopicPartition(topic, index, 0) for index in range(partitions)]
        client.commit(offsets=first, asynchronous=False)


def forgotten_after(line: str) -> str | None:
    """The error after which a client, by its log, does not ask for its offsets again: it reads
    nothing from then on (librdkafka #5586).
    """
    found = _FORGOTTEN.search(line) or _FORGOTTEN_WITHOUT_RESPONSE.search(line)
    return found and found[1]


class _Forgotten(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.error: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.error = self.error or forgotten_after(record.getMessage())


class GroupReader(Repeating):
    """Commits what it has read, and notes which commits were acknowledged."""

    def __init__(self, bootstrap: str, group: str, protocol: str, topic: str) -> None:
        super().__init__()
        settings = {"group.id": group, "group.protocol": protocol, "auto.offset.reset": "error"}
        if protocol == "classic":
            settings |= {"session.timeout.ms": 2000, "heartbeat.interval.ms": 100}
        quick = QUICK | {"bootstrap.servers": bootstrap, "fetch.wait.max.ms": 20}
        self._settings = quick | settings | {"enable.auto.commit": False, "debug": "cgrp"}
        self._topic = topic
        #: Consumers that had to be replaced, by the error.
        self.replaced: Counter[str] = Counter()
        #: Read, and not yet committed.
        self._ends: dict[int, int] = {}
        self.values: list[str] = []
        self.committed: dict[Place, int] = {}
        self.commits = Acknowledged()
        #: Errors of the client's own that no restart explains.
        self.resets: list[str] = []

    def repeat(self) -> None:
        while not self.enough.is_set():
            self._read()

    def _read(self) -> None:
        forgotten = _Forgotten()
        logger = logging.Logger("librdkafka")
        logger.addHandler(forgotten)
        with closing(Consumer(self._settings | {"logger": logger})) as consumer:
            consumer.subscribe([self._topic], on_revoke=self._on_gone, on_lost=self._on_gone)
            while not self.enough.is_set():
                if forgotten.error is not None:
                    self.replaced[forgotten.error] += 1
                    self._ends.clear()
                    return
                for record in consumer.consume(BATCH, 0.05):
                    if record.error() is not None:
                        self._noticed(record.error().name())
                        continue
                    self.values.append((record.value() or b"").decode())
                    self._ends[record.partition() or 0] = (record.offset() or 0) + 1
                if self._ends:
                    self._commit(consumer)

    def _on_gone(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for one in partitions:
            self._ends.pop(one.partition, None)

    def _noticed(self, error: str) -> None:
        if error == "_AUTO_OFFSET_RESET":
            self.resets.append(f"a member: {error}")

    def _commit(self, consumer: Consumer) -> None:
        offsets = [TopicPartition(self._topic, index, end) for index, end in self._ends.items()]
        try:
            done = consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException:  # the broker died, or a rebalance was in between
            return
        for one in done or ():
            if one.error is None:
                self._ends.pop(one.partition, None)
                self.committed[one.topic, one.partition] = one.offset
                self.commits.one_more()


def all_replaced(readers: Iterable[GroupReader]) -> Counter[str]:
    return sum((one.replaced for one in readers), Counter())


class OffsetsWatcher(threading.Thread):
    """No committed offset goes back, or behind one that was acknowledged."""

    def __init__(self, address: Address, group: str, readers: list[GroupReader]) -> None:
        super().__init__(daemon=True)
        self._address, self._group, self._readers = address, group, readers
        self._checker = GroupChecker(group, (), eager=False)
        self._enough = threading.Event()
        self.wrong: list[str] = []
        self.newest: Mapping[Place, int] = {}

    @property
    def polls(self) -> int:
        return self._checker.polls

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._enough.set()
        self.join()

    def run(self) -> None:
        while not self._enough.is_set():
            try:
                with self._address.connect() as client:
                    while not self._enough.wait(PAUSE_S):
                        floor = self._acknowledged()
                        self._compare(floor, fetched_offsets(client, self._group))
            except (OSError, CoordinatorNotAvailable):  # between two brokers
                self._enough.wait(PAUSE_S)
            except AssertionError as refused:
                self.wrong.append(str(refused))
                return

    def _acknowledged(self) -> dict[Place, int]:
        found: dict[Place, int] = {}
        for reader in list(self._readers):
            for place, offset in reader.committed.copy().items():
                found[place] = max(found.get(place, 0), offset)
        return found

    def _compare(self, floor: Mapping[Place, int], found: Mapping[Place, int]) -> None:
        self._checker.fetched(dict(found))
        self.wrong += self._checker.wrong
        self._checker.wrong.clear()
        for place, offset in floor.items():
            if found.get(place, -1) < offset:
                self.wrong.append(f"{offset} was acknowledged, {place} is at {found.get(place)}")
        self.newest = found
