"""Copiers in one group, and a consumer of the copies, while the broker and copiers are killed."""

from __future__ import annotations

import random
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tests.crash.broker import VIOLENT, Broker, NotInTime, Nursery
from tests.crash.copier import GROUP, PARTITIONS, QUICK, SOURCE, TARGET
from tests.crash.copies import Copy, History, TargetPartition
from tests.crash.database import SERVER_IS_AWAY, Database, Trouble
from tests.crash.ledger import Broken
from tests.e2e.broker_process import ROOT, environment
from tests.e2e.raw_client import LIST_OFFSETS, RawClient, array, batch, string

#: Added to each source partition in each life of the broker.
RECORDS = 20
LATEST, READ_COMMITTED = -1, 1
CONSUMED_WITHIN_S, OFFSETS_WITHIN_S = 3.0, 1.0
#: Longer than the sessions of members, so that others get its partitions.
STOPPED_S = 0.5

#: Moments around the end of a transaction or a rebalance; the broker dies at a passage of up to so
#: many.
POINTS = {
    "end: prepared, no marker": 4,
    "end: offsets staged, no marker": 4,
    "end: a marker staged, not completed": 4,
    "transactions: before the commit": 12,
    "transactions: committed, no response sent": 12,
    "aborted: before the commit": 2,
    "aborted: committed, no response sent": 2,
    "pending_offsets: committed, no response sent": 4,
    "recovery: begins": 2,
    "groups: before the commit": 3,
    "groups: committed, no response sent": 3,
}
SETTINGS = (
    "transaction.abort.timed.out.transaction.cleanup.interval.ms=100",
    "group.min.session.timeout.ms=100",
    *(f"group.consumer.{one}session.timeout.ms=200" for one in ("", "min.")),
    *(f"group.consumer.{one}heartbeat.interval.ms=50" for one in ("", "min.")),
)
#: With offsets in SQLite, which follows the commit of the log.
SQLITE_POINTS = {"sqlite: before it is written": 4, "sqlite: written, no response sent": 4}
POSTGRESQL_POINTS = {
    "postgresql: not sent": 20,
    "postgresql: persisted, not yet known": 20,
    "postgresql: connects again": 2,
    "postgresql: has a new session": 2,
}


class LiveConsumer(threading.Thread):
    """READ_COMMITTED, from the start of each target partition."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self.bootstrap, self.stopped = bootstrap, False
        self.found: list[list[Copy]] = [[] for _ in range(PARTITIONS)]
        self.positions = [0] * PARTITIONS

    def run(self) -> None:
        level = {"isolation.level": "read_committed", "auto.offset.reset": "error"}
        settings = {
            "bootstrap.servers": self.bootstrap,
            "group.id": "none",
            "fetch.wait.max.ms": 50,
        }
        consumer = Consumer(QUICK | level | settings | {"enable.partition.eof": True})
        consumer.assign([TopicPartition(TARGET, index, 0) for index in range(PARTITIONS)])
        while not self.stopped:
            for record in consumer.consume(100, 0.05):
                error, partition = record.error(), record.partition() or 0
                if error is None:
                    self.found[partition].append(Copy.of(record.offset() or 0, record.value()))
                elif error.code() == KafkaError._PARTITION_EOF:
                    self.positions[partition] = record.offset() or 0
        consumer.close()

    def stop(self) -> None:
        self.stopped = True
        self.join()


class Chain:
    #: Between two deaths.
    PAUSES_S = (0.05, 0.4)
    #: Without another committed offset.
    PATIENCE_S = 10.0
    #: A broker that is to die at a point.
    DIES_WITHIN_S = 1.0

    def __init__(
        self,
        nursery: Nursery,
        folder: Path,
        seed: int,
        fault: str | None = None,
        offsets: str = "",
        protocol: str = "classic",
        engine: str = "lmdb",
        database: Database | None = None,
    ) -> None:
        self.seed, self.chance, self.fault = seed, random.Random(seed), fault
        self.folder, self.protocol = folder, protocol
        folder.mkdir(parents=True, exist_ok=True)
        flush = self.chance.choice(("commit", "os"))
        self.database = database
        url = "" if database is None else database.url
        self.broker = Broker(nursery, folder, flush, offsets, SETTINGS, engine, url)
        self.copiers: dict[int, subprocess.Popen[bytes]] = {}
        self.members = 3
        self.stopped: subprocess.Popen[bytes] | None = None
        self.consumer: LiveConsumer | None = None
        self.events: list[str] = []
        self.points = POINTS | (SQLITE_POINTS if offsets else {})
        if database is not None:
            self.points |= POSTGRESQL_POINTS
        #: Points at which the broker has died.
        self.reached: set[str] = set()
        self.stuck = ""

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.broker.port}"

    def connect(self) -> RawClient:
        return RawClient("127.0.0.1", self.broker.port, patience_s=10)

    # ---- lives

    def run(self, lives: int) -> list[str]:
        """Returns the problems that the checker has found."""
        try:
            self._start()
            with self.connect() as client:
                for name in (SOURCE, TARGET):
                    assert client.create_topic(name, PARTITIONS) == 0
            self._commit_first_offsets()
            self.consumer = LiveConsumer(self.bootstrap)
            self.consumer.start()
            points = list(self.points)
            self.chance.shuffle(points)
            for number in range(lives):
                self._live(None if number % 3 == 2 else points[number % len(points)])
            return self._end()
        finally:
            self._stop()

    def _commit_first_offsets(self) -> None:
        client = Consumer(QUICK | {"bootstrap.servers": self.bootstrap, "group.id": GROUP})
        first = [TopicPartition(SOURCE, index, 0) for index in range(PARTITIONS)]
        client.commit(offsets=first, asynchronous=False)
        client.close()

    def _start(self, **plan: Any) -> None:
        if self.broker.code is None:
            return
        # In half of the lives an end has two commits, as if partitions had to be loaded.
        plan["ends_in_two_commits"] = self.chance.random() < 0.5
        if not self.broker.start(small=True, fault=self.fault, **plan):
            raise Broken(f"the broker did not start: {self.broker.log()}")

    def _live(self, point: str | None) -> None:
        if point is not None:
            passage = self.chance.randint(1, self.points[point])
            self.broker.kill()
            self._start(point=point, passage=passage)
        self._start()
        self.events.append(point or "SIGKILL")
        try:
            self._fill()
        except ConnectionError:
            pass
        if self.chance.random() < 0.5:
            self._resume()
        self._start_copiers()
        with Trouble(self.database, self.chance, self.broker.flush) as trouble:
            if self.database is not None:
                self.events.append(trouble.what)
            self._disturb(stops=point is None)
            if point is None or not self._has_died():
                self._pause()
                self.broker.kill()
            else:
                self.reached.add(point)
        self._start()

    def _disturb(self, stops: bool) -> None:
        """Kills a member, or stops it for some lives, so that it may become a zombie."""
        if not stops and self.chance.random() < 0.5:
            return
        self._pause()
        copier = self.copiers[self.chance.randrange(self.members)]
        if not stops:
            copier.kill()
            copier.wait()
            self._start_copiers()
            return
        self._resume()
        self.stopped = copier
        copier.send_signal(signal.SIGSTOP)
        time.sleep(STOPPED_S)

    def _resume(self) -> None:
        if self.stopped is not None:
            self.stopped.send_signal(signal.SIGCONT)
            self.stopped = None

    def _has_died(self) -> bool:
        try:
            code = self.broker.wait(within_s=self.DIES_WITHIN_S)
        except NotInTime:
            return False
        if code not in VIOLENT:
            raise Broken(f"the broker ended with {code}: {self.broker.log()}")
        return True

    def _pause(self) -> None:
        time.sleep(self.chance.uniform(*self.PAUSES_S))

    def _fill(self) -> None:
        with self.connect() as client:
            for partition in range(PARTITIONS):
                end = client.end_offset(SOURCE, partition)
                for offset in range(end, end + RECORDS):
                    value = f"{partition} {offset} unchanged".encode()
                    client.produce(SOURCE, batch([value]), partition)

    def _start_copiers(self) -> None:
        for member in range(self.members):
            running = self.copiers.get(member)
            if running is not None and running.poll() is None:
                continue
            with (
                self._outcomes().open("ab") as outcomes,
                (self.folder / "errors").open("ab") as log,
            ):
                self.copiers[member] = subprocess.Popen(
                    self.command(member),
                    stdout=outcomes,
                    stderr=log,
                    cwd=ROOT,
                    env=environment(),
                )

    def command(self, member: int) -> list[str]:
        copier = (sys.executable, "-P", "-m", "tests.crash.copier")
        return [*copier, self.bootstrap, str(member), self.protocol]

    def confirmed(self) -> dict[str, bool]:
        lines = (line.split() for line in self._outcomes().read_text().splitlines())
        return {name: outcome == "committed" for outcome, name in lines}

    def _outcomes(self) -> Path:
        return self.folder / "outcomes"

    def _errors(self) -> str:
        return (self.folder / "errors").read_text()[-2_000:] + self.broker.log(2_000)

    # ---- the end

    def _end(self) -> list[str]:
        """Waits until everything is copied and read, and compares."""
        self._resume()
        with self.connect() as client:
            ends = {index: client.end_offset(SOURCE, index) for index in range(PARTITIONS)}
            self._wait_for_copies(ends)
            self._wait_for_ends(client)
            for copier in self.copiers.values():
                copier.kill()
                copier.wait()
            targets = [self._target(client, index) for index in range(PARTITIONS)]
        self._wait_for_consumer(targets)
        assert self.consumer is not None
        for target, found in zip(targets, self.consumer.found, strict=True):
            target.consumed = found
        lines = (line.split() for line in self._outcomes().read_text().splitlines())
        confirmed = {name: outcome == "committed" for outcome, name in lines}
        logged = self.broker.log_file.read_text()
        grave = [one for one in logged.splitlines() if '"level":"info"' not in one]
        if self.database is not None:
            grave = [one for one in grave if not SERVER_IS_AWAY.search(one)]
        others = [f"logged: {grave[0]}"] if grave else []
        if self.stuck:
            others.append(self.stuck)
        return [*others, *History(confirmed, ends, targets).check()]

    def _wait_for_copies(self, ends: dict[int, int]) -> None:
        stable = {"group.id": GROUP, "isolation.level": "read_committed"}
        client = Consumer(QUICK | stable | {"bootstrap.servers": self.bootstrap})
        deadline = time.monotonic() + self.PATIENCE_S
        committed = dict.fromkeys(ends, 0)
        while committed != ends:
            self._start_copiers()
            before, committed = committed, self._committed(client, committed)
            if committed != before:
                deadline = time.monotonic() + self.PATIENCE_S
            elif time.monotonic() > deadline:
                self.stuck = f"stuck copiers: {committed} of {ends}\n{self._errors()}"
                break
            time.sleep(0.02)
        client.close()

    def _wait_for_ends(self, client: RawClient) -> None:
        """A member that was stopped may still have to abort; the checker says if it does not."""
        deadline = time.monotonic() + CONSUMED_WITHIN_S
        while time.monotonic() < deadline:
            targets = [self._target(client, index) for index in range(PARTITIONS)]
            if all(one.last_stable_offset == one.high_watermark for one in targets):
                return
            time.sleep(0.05)

    def _committed(self, client: Consumer, before: dict[int, int]) -> dict[int, int]:
        asked = [TopicPartition(SOURCE, index) for index in before]
        try:
            found = client.committed(asked, OFFSETS_WITHIN_S)
        except KafkaException:  # a transaction with offsets is open
            return before
        return {one.partition: one.offset for one in found}

    def _wait_for_consumer(self, targets: list[TargetPartition]) -> None:
        """Or until it reads nothing more; the checker then says what is missing."""
        assert self.consumer is not None
        ends = [target.high_watermark for target in targets]
        deadline = time.monotonic() + CONSUMED_WITHIN_S
        while self.consumer.positions != ends and time.monotonic() < deadline:
            time.sleep(0.02)
        self.consumer.stop()

    def _target(self, client: RawClient, index: int) -> TargetPartition:
        log = [raw for _, raw in client.fetch_everything(TARGET, index)]
        latest = client.end_offset(TARGET, index)
        return TargetPartition(log, latest, _last_stable_offset(client, index))

    def _stop(self) -> None:
        for copier in self.copiers.values():
            copier.kill()
            copier.wait()
        if self.consumer is not None:
            self.consumer.stop()
        self.broker.kill()


def _last_stable_offset(client: RawClient, index: int) -> int:
    requested = string(TARGET) + array([struct.pack(">iq", index, LATEST)])
    body = struct.pack(">ib", -1, READ_COMMITTED) + array([requested])
    response = client.request(LIST_OFFSETS, 2, body)
    response.take("ii"), response.string()
    _count, _index, error, _timestamp, offset = response.take("iihqq")
    assert error == 0
    return offset
