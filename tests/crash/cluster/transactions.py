"""Transactional producers of several brokers, and what read_committed consumers see of them."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.crash.cluster.attempts import (
    HANGING,
    WRONG_OFFSET,
    Attempt,
    Outcome,
    expected_offset,
    findings,
)
from tests.crash.cluster.load import LiveReader, wait_for
from tests.crash.copier import QUICK
from tests.crash.repeating import Repeating
from tests.e2e.cluster.brokers import Brokers

NAMES = ("t", "u")
ABORTED_SHARE, OFFSETS_SHARE = 0.25, 0.3
COUNTS = ("starts", "hung")
#: After a lost coordinator librdkafka 2.16 may wait for the group's without sending anything.
HANGS_S = 10.0
MOST_PARTITIONS = 4
PATIENCE_S = 60.0
#: Between two transactions.
PACE_S = 0.02
MOST_FINDINGS = 5
#: Of the reader.
READ_COMMITTED = {"isolation.level": "read_committed", "enable.partition.eof": True}


class Hanging(Exception):
    """The client sends nothing any more."""


class TransactionalSender(Repeating):
    """With a group, whose offset is the number of its last committed transaction."""

    def __init__(self, name: str, bootstrap: str, topic: str, count: int) -> None:
        super().__init__()
        self._name, self._topic, self._count = name, topic, count
        self._chance = random.Random(name)
        self._settings = QUICK | {
            "bootstrap.servers": bootstrap,
            "transactional.id": name,
            "transaction.timeout.ms": 60_000,
            "linger.ms": 0,
            "retry.backoff.ms": 20,
            "socket.timeout.ms": 5000,
            "topic.metadata.refresh.fast.interval.ms": 50,
        }
        # For the metadata of the group; it reads nothing.
        self.member = Consumer(QUICK | {"bootstrap.servers": bootstrap, "group.id": f"of {name}"})
        self.attempts: list[Attempt] = []
        self.errors: list[str] = []
        #: Of other clients.
        self.failures: Counter[str] = Counter()
        #: When a transaction has ended.
        self.newest_s = time.monotonic()
        self.starts = self.hung = 0
        #: Held while a transaction may be open.
        self.turn = threading.Lock()

    def repeat(self) -> None:
        while not self.enough.is_set():
            try:
                with self.turn:
                    producer = self.new_producer()
                while not self.enough.wait(PACE_S):
                    with self.turn:
                        self._transaction(producer)
            except Hanging:
                self.hung += 1
            except KafkaException as failure:
                error = failure.args[0]
                if not error.fatal():
                    self.errors.append(f"{self._name}: {error}")
                    return
        self.new_producer()  # nothing stays open

    def new_producer(self) -> Producer:
        producer = Producer(self._settings)
        self.starts += 1
        self._repeated(partial(producer.init_transactions, PATIENCE_S))
        return producer

    def new_attempt(self, has_offset: bool = True) -> tuple[Attempt, bool]:
        """And whether it is aborted."""
        number = len(self.attempts)
        indexes = self._chance.sample(range(self._count), self._chance.randint(1, MOST_PARTITIONS))
        has_offset = self._chance.random() < OFFSETS_SHARE and has_offset
        attempt = Attempt(f"{self._name}:{number}", indexes, number + 1 if has_offset else None)
        self.attempts.append(attempt)
        return attempt, self._chance.random() < ABORTED_SHARE

    def _transaction(self, producer: Producer) -> None:
        attempt, is_aborted = self.new_attempt()
        try:
            producer.begin_transaction()
            for index in attempt.indexes:
                producer.produce(self._topic, attempt.name, partition=index)
            if attempt.offset is not None:
                places = [TopicPartition(self._topic, 0, attempt.offset)]
                group = self.member.consumer_group_metadata()
                self._send_offsets(producer, places, group)
            if is_aborted:
                producer.flush(PATIENCE_S)
                self._repeated(producer.abort_transaction)
            else:
                attempt.outcome = Outcome.UNKNOWN
                self._repeated(producer.commit_transaction)
                attempt.outcome = Outcome.COMMITTED
        except KafkaException as failure:
            if not failure.args[0].txn_requires_abort():
                raise
            self._repeated(producer.abort_transaction)
            attempt.outcome = Outcome.ABORTED
        self.newest_s = time.monotonic()

    def _send_offsets(self, producer: Producer, places: list[TopicPartition], group: Any) -> None:
        """In a thread that is left behind if it hangs: the next producer fences this one."""
        failures: list[KafkaException] = []

        def send() -> None:
            try:
                self._repeated(lambda: producer.send_offsets_to_transaction(places, group))
            except KafkaException as failure:
                failures.append(failure)

        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        thread.join(HANGS_S)
        if thread.is_alive():
            raise Hanging
        if failures:
            raise failures[0]

    def _repeated(self, call: Callable[[], object]) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                call()
            except KafkaException as failure:
                if not failure.args[0].retriable() or time.monotonic() > until:
                    raise
            else:
                return


class Transactions:
    """Of two senders, and others; a reader reads what they have committed."""

    def __init__(
        self, brokers: Brokers, topic: str, count: int, others: Sequence[TransactionalSender] = ()
    ) -> None:
        self._brokers, self._topic, self._count = brokers, topic, count
        bootstrap = brokers.bootstrap
        own = [TransactionalSender(one, bootstrap, topic, count) for one in NAMES]
        self.senders = [*own, *others]
        self.values: dict[int, list[str]] = {one: [] for one in range(count)}
        self.reader = LiveReader(bootstrap, topic, count, self._read, READ_COMMITTED)

    def _read(self, partition: int, _offset: int, value: str) -> None:
        self.values[partition].append(value)

    @contextmanager
    def held(self) -> Iterator[None]:
        """No transaction is open, but for one of a client that hangs."""
        with ExitStack() as turns:
            for sender in self.senders:
                turns.enter_context(sender.turn)
            yield

    @property
    def summary(self) -> list[str]:
        transactions = sum(len(one.attempts) for one in self.senders)
        starts, hung = (sum(getattr(one, each) for one in self.senders) for each in COUNTS)
        return [
            f"{transactions} transactions of {starts} producers, of which {hung} hung: "
            + ", ".join(f"{len(one.attempts)} of {one._name}" for one in self.senders),
            *(
                f"{one._name} failed {count} times: {failure}"
                for one in self.senders
                for failure, count in one.failures.most_common(MOST_FINDINGS)
            ),
        ]

    def stuck(self, when: str, since_s: float, until_s: float) -> list[str]:
        return [
            f"{sender._name}: transactions are stuck {when}"
            for sender in self.senders
            if not wait_for(
                lambda sender=sender: sender.newest_s > since_s,
                max(0.0, until_s - time.monotonic()),
            )
        ]

    def findings(self, patience_s: float) -> list[str]:
        """All transactions have ended: consumers read up to the end of each log."""
        ends = [self._end_of(index, patience_s) for index in range(self._count)]
        if not wait_for(lambda: self.reader.positions == ends, patience_s):
            return [f"{HANGING}: the reader stands at {self.reader.positions}, not {ends}"]
        found: list[str] = []
        for sender in self.senders:
            found += findings(sender._name, sender.attempts, self.values)[:MOST_FINDINGS]
            expected = expected_offset(sender.attempts)
            if not wait_for(
                lambda sender=sender, expected=expected: self._has_offset(sender, expected),
                patience_s,
            ):
                found.append(f"{WRONG_OFFSET}: of {sender._name}, not {expected}")
        return found

    def _has_offset(self, sender: TransactionalSender, expected: int | None) -> bool:
        try:
            [found] = sender.member.committed([TopicPartition(self._topic, 0)], 5.0)
        except KafkaException:
            return False
        return expected == (found.offset if found.offset >= 0 else None)

    def _end_of(self, index: int, patience_s: float) -> int:
        ends: list[int] = []

        def is_known() -> bool:
            try:
                seen = self._brokers.seen_by(min(self._brokers.all), self._topic)
                leader = seen.partitions[self._topic, index].leader
                with self._brokers[leader].connect() as client:
                    ends.append(client.end_offset(self._topic, index))
            except (AssertionError, OSError, KeyError):
                return False
            return True

        return ends[-1] if wait_for(is_known, patience_s) else -1
