"""Clients of several brokers, who note what they have seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import NamedTuple

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tests.crash.cluster.history import WENT_BACK, History
from tests.crash.copier import QUICK
from tests.crash.group_readers import GroupReader
from tests.crash.repeating import Repeating
from tests.e2e.broker_process import Address
from tests.e2e.cluster.brokers import Brokers
from tests.e2e.cluster.views import committed_in, end_of, metadata
from tests.e2e.raw_client import RawClient

PACE_S = 0.003
POLL_S = 0.05
#: Longer than any fault. A client closes, whatever brokers do, unless its threads wait for each
#: other.
SILENT_S, CLOSES_S = 60.0, 20.0
MOST_UNSENT = 100
#: Of a broker that is paused, or does not read its sockets.
ASKED_S = 2.0
#: A broker that others have replaced responds as before, until it notices.
NOTICES_S = 15.0


class Silence(NamedTuple):
    lasted_s: float
    partition: int
    ended_s: float


class AnySender(Repeating):
    """To each partition in turn."""

    def __init__(self, name: str, count: int, history: History) -> None:
        super().__init__()
        self._name, self._count, self._history = name, count, history
        self.errors: list[str] = []
        #: Of each partition, when a record was acknowledged.
        self.newest_s = [time.monotonic()] * count
        self.longest = Silence(0.0, 0, time.monotonic())
        self.count = 0

    def acknowledged(self, partition: int, offset: int, value: str) -> None:
        now = time.monotonic()
        self.longest = max(self.longest, Silence(now - self.newest_s[partition], partition, now))
        self.newest_s[partition] = now
        self.count += 1
        self._history.acknowledged(partition, offset, value)


class Sender(AnySender):
    """Of librdkafka."""

    def __init__(
        self,
        name: str,
        more: Mapping[str, object],
        bootstrap: str,
        topic: str,
        count: int,
        history: History,
    ) -> None:
        """`more`: settings."""
        super().__init__(name, count, history)
        self._topic = topic
        self._producer = Producer(
            QUICK
            | dict(more)
            | {"bootstrap.servers": bootstrap, "linger.ms": 1, "retry.backoff.ms": 20}
            | {"socket.timeout.ms": 5000, "message.timeout.ms": 120_000}
            | {"topic.metadata.refresh.fast.interval.ms": 50}
        )

    def repeat(self) -> None:
        number = 0
        while not self.enough.is_set():
            if len(self._producer) < MOST_UNSENT:
                partition, value = number % self._count, f"{self._name}:{number}"
                self._history.sent(partition, value)
                self._producer.produce(
                    self._topic, value, partition=partition, on_delivery=self._report
                )
                number += 1
            self._producer.poll(PACE_S)
            time.sleep(PACE_S)

    def _report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(f"{self._name}: {error}")
            return
        value = (message.value() or b"").decode()
        offset = message.offset()
        self.acknowledged(message.partition() or 0, -1 if offset is None else offset, value)

    def stop(self) -> None:
        super().stop()
        try:
            left = self._producer.flush(60)
        except (KafkaException, SystemError) as failure:  # after a fatal error
            self.errors.append(f"{self._name}: {failure}")
            return
        if left:
            self.errors.append(f"{self._name}: {left} records have no response")
            self._producer.purge()


class LiveReader(Repeating):
    """All partitions from the start."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        count: int,
        read: Callable[[int, int, str], None],
        more: Mapping[str, object] | None = None,
    ) -> None:
        """`read`: called with each partition, offset and value; `more`: settings."""
        super().__init__()
        self._topic, self._count, self._read = topic, count, read
        self._settings = QUICK | {
            "bootstrap.servers": bootstrap,
            "group.id": "none",
            "auto.offset.reset": "error",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 50,
            # Of a broker that is cut off, which responds as before.
            "topic.metadata.refresh.interval.ms": 1000,
            **(more or {}),
        }
        self.resets: list[str] = []
        #: Nothing is written any more.
        self.at_rest = Event()
        #: Clients whose threads wait for each other (librdkafka #5476), and are replaced.
        self.deadlocks = 0
        #: After the last record; where ends of partitions are reported, also behind markers.
        self.positions = [0] * count

    def repeat(self) -> None:
        while not self.enough.is_set():
            consumer = Consumer(self._settings)
            places = enumerate(self.positions)
            consumer.assign([TopicPartition(self._topic, *place) for place in places])
            self._consume(consumer)
            closing = Thread(target=consumer.close, daemon=True)
            closing.start()
            closing.join(CLOSES_S)
            if closing.is_alive():
                self.deadlocks += 1
            elif not (self.enough.is_set() or self.at_rest.is_set()):
                self.resets.append(f"a reader of {self._topic} has read nothing for {SILENT_S} s")

    def _consume(self, consumer: Consumer) -> None:
        """Until it is enough, or the client is silent for long."""
        silent_at = time.monotonic() + SILENT_S
        while not self.enough.is_set() and time.monotonic() < silent_at:
            for record in consumer.consume(200, 0.05):
                silent_at = time.monotonic() + SILENT_S
                error, partition = record.error(), record.partition() or 0
                if error is None:
                    offset = record.offset() or 0
                    self._read(partition, offset, (record.value() or b"").decode())
                    self.positions[partition] = offset + 1
                elif error.name() == "_PARTITION_EOF":
                    self.positions[partition] = record.offset() or 0
                elif error.name() == "_AUTO_OFFSET_RESET":
                    self.resets.append(f"a reader of {self._topic}: {error}")


class Watcher(Repeating):
    """Asks each broker in turn, with a connection of its own to each."""

    def __init__(self, brokers: Brokers) -> None:
        super().__init__()
        self._brokers = brokers
        self._clients: dict[int, RawClient] = {}

    def repeat(self) -> None:
        try:
            while not self.enough.wait(POLL_S):
                for node_id, address in self._brokers.addresses.items():
                    self._ask(node_id, address)
        finally:
            for client in self._clients.values():
                client.socket.close()

    def _ask(self, node_id: int, address: Address) -> None:
        try:
            if node_id not in self._clients:
                self._clients[node_id] = address.connect(ASKED_S)
            self.ask(self._clients[node_id], node_id)
        except OSError:
            if node_id in self._clients:
                self._clients.pop(node_id).socket.close()

    def ask(self, client: RawClient, node_id: int) -> None:
        raise NotImplementedError


class LeaderWatcher(Watcher):
    """Leaders and epochs, as any broker knows them and as leaders respond, and high watermarks."""

    def __init__(self, brokers: Brokers, topic: str, count: int, history: History) -> None:
        super().__init__(brokers)
        self._topic, self._count, self._history = topic, count, history
        #: Responses of a leader of the past, and all.
        self.late = self.polls = 0

    def ask(self, client: RawClient, node_id: int) -> None:
        for (_, index), one in metadata(client, [self._topic]).partitions.items():
            if one.leader >= 0:
                self._history.leads(index, one.epoch, one.leader)
        for index in range(self._count):
            before = self._history.newest_end(index)
            error, end, epoch = end_of(client, self._topic, index)
            if not error:
                self._history.leads(index, epoch, node_id)
                self.polls += 1
                self.late += not self._history.ends(index, epoch, end, before)


class OffsetsWatcher(Watcher):
    """Committed offsets of a group never go back, or behind one that was acknowledged.

    A broker that others have replaced may respond as before until it notices: it is asked again.
    """

    def __init__(
        self, brokers: Brokers, group: str, topic: str, readers: list[GroupReader], history: History
    ) -> None:
        super().__init__(brokers)
        self._group, self._topic, self._readers, self._history = group, topic, readers, history
        self.newest: dict[int, int] = {}
        self.late = self.polls = 0

    def ask(self, client: RawClient, node_id: int) -> None:
        floor = self._floor()
        until = time.monotonic() + NOTICES_S
        behind: Mapping[int, tuple[int, int]] = {}
        while not self.enough.is_set():
            error, offsets = committed_in(client, self._group)
            if error:
                return
            found = {index: offset for (_, index), offset in offsets.items()}
            behind = {
                one: (offset, found.get(one, -1))
                for one, offset in floor.items()
                if found.get(one, -1) < offset
            }
            if not behind:
                self.polls += 1
                for one, offset in found.items():
                    self.newest[one] = max(offset, self.newest.get(one, -1))
                return
            self.late += 1
            if time.monotonic() > until:
                self._history.wrong.append(f"{WENT_BACK}: offsets of {self._group}: {behind}")
                return
            time.sleep(POLL_S)

    def _floor(self) -> dict[int, int]:
        floor = self.newest.copy()
        for reader in list(self._readers):
            for (_, index), offset in reader.committed.copy().items():
                floor[index] = max(floor.get(index, -1), offset)
        return floor


def wait_for(holds: Callable[[], object], patience_s: float) -> bool:
    until = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
