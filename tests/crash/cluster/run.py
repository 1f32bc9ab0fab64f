"""Three brokers over one PostgreSQL, under load and faults, and what clients see of them."""

from __future__ import annotations

import re
import shutil
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException

from infrastructure.storage.postgresql.session import PATIENCE_S
from tests.crash.cluster import clients
from tests.crash.cluster.bucket import OF_THE_BUCKET, CrashBucket
from tests.crash.cluster.faults import OF_ITS_OWN_SERVER, Fault, Machines, schedule, with_standby
from tests.crash.cluster.history import UNREADABLE, Batch, History, Log, Record
from tests.crash.cluster.load import (
    CLOSES_S,
    SILENT_S,
    AnySender,
    LeaderWatcher,
    LiveReader,
    OffsetsWatcher,
    Sender,
    wait_for,
)
from tests.crash.cluster.program import command
from tests.crash.cluster.report import Report, report_of
from tests.crash.cluster.transactions import Transactions
from tests.crash.database import SERVER_IS_AWAY
from tests.crash.group_readers import GroupReader, commit_the_start
from tests.crash.repeating import Repeating
from tests.e2e.broker_process import wait_until
from tests.e2e.cluster.brokers import SETTINGS, Brokers, new_schema, store_of
from tests.e2e.librdkafka import read
from tests.e2e.raw_client import split_batches
from tests.fakes.postgres import Postgres
from tests.fakes.postgres_relay import PostgresRelay

TOPIC, PARTITIONS, NODE_IDS = "torture", 6, (1, 2, 3)
TRANSACTIONS = "transactions"
#: Names in values, and settings of librdkafka.
IDEMPOTENT, PLAIN, ONE_AT_A_TIME = ("i", "j", "o"), "p", "o"
SENDERS: dict[str, dict[str, object]] = {name: {"enable.idempotence": True} for name in IDEMPOTENT}
SENDERS |= {PLAIN: {"max.in.flight": 1}}
SENDERS[ONE_AT_A_TIME] |= {"max.in.flight": 1}
PROTOCOLS = ("classic", "consumer")
#: A broker that comes back soon has something to lose.
REBALANCES = ("--set", "leader.imbalance.check.interval.seconds=3")
#: After the end of all faults, for each client.
SETTLES_S = 40.0
#: Of a reader, which may have to be replaced.
READS_S = SETTLES_S + SILENT_S + CLOSES_S
#: In the log of a broker.
ERRORS = ("Traceback", '"level":"critical"', '"level":"error"')
#: Of one that others have fenced, and while the server is away, or its disk full: then the server
#: cannot note the status of a transaction, either.
EXPECTED = re.compile(
    "another broker has ended the session|The store was closed|No space left on device|"
    "could not access status of transaction 0|"
    "or a standby was promoted|" + SERVER_IS_AWAY.pattern
)
#: Of commits, once PostgreSQL was away for so long.
GIVEN_UP = "PostgreSQL cannot be reached"


class Torture:
    def __init__(
        self,
        server: Postgres | None,
        folder: Path,
        seed: int,
        prints: Callable[[str], None] = lambda _: None,
        fault: str | None = None,
        has_objects: bool = False,
        has_clients: bool = False,
    ) -> None:
        """`server`: None: of its own, to which more happens; `fault`: of broken.py."""
        self._folder, self.seed, self._prints = folder, seed, prints
        self._has_own_server, self._has_clients = server is None, has_clients
        server = server or with_standby()
        self._stack = ExitStack()
        self._relays = {one: PostgresRelay(server.folder) for one in NODE_IDS}
        self.bucket = CrashBucket() if has_objects else None
        schema, more = new_schema(), self.bucket.more if self.bucket else ""
        stores = {one: store_of(relay.folder, schema) + more for one, relay in self._relays.items()}
        program = command(fault, small=has_objects)
        settings = (*SETTINGS, *REBALANCES)
        self.brokers = Brokers(folder, stores, settings=settings, program=program)
        self.machines = Machines(
            server, self.brokers, self._relays, schema, self._held, self.bucket
        )
        self.history = History((*IDEMPOTENT, *clients.IDEMPOTENT), once=[ONE_AT_A_TIME])
        self.kinds: Counter[str] = Counter()
        self._findings: list[str] = []
        self.began_s = time.monotonic()

    # ---- start and end

    def __enter__(self) -> Self:
        try:
            self._stack.enter_context(self.brokers)
            self._create_topic()
            self._start_load()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_failure: object) -> None:
        for relay in self._relays.values():
            relay.pass_all()
        for one in self._repeating():
            one.end()
        for one in self._repeating():
            if one.ident is not None:
                one.join()
        self._stack.close()
        for relay in self._relays.values():
            relay.close()
        if self.bucket is not None:
            self.bucket.close()
        if self._has_own_server:
            self.machines.server.remove()

    def _create_topic(self) -> None:
        first = self.brokers[NODE_IDS[0]]
        for topic in (TOPIC, TRANSACTIONS):
            with first.connect() as client:
                assert client.create_topic(topic, PARTITIONS) == 0
            wait_until(
                lambda topic=topic: all(
                    len(set(self.brokers.seen_by(one, topic).leaders(topic)) - {-1})
                    == len(NODE_IDS)
                    for one in NODE_IDS
                )
            )
        for protocol in PROTOCOLS:
            wait_until(lambda protocol=protocol: self._has_the_start(protocol))

    def _has_the_start(self, group: str) -> bool:
        try:
            commit_the_start(self.brokers.bootstrap, group, TOPIC, PARTITIONS)
        except KafkaException:
            return False
        return True

    def _start_load(self) -> None:
        bootstrap, history = self.brokers.bootstrap, self.history
        self.senders: list[AnySender] = [
            Sender(name, settings, bootstrap, TOPIC, PARTITIONS, history)
            for name, settings in SENDERS.items()
        ]
        others: list[clients.ClientTransactions] = []
        if self._has_clients:
            place = clients.Place(self._folder, bootstrap, PARTITIONS, self._stack)
            self.senders += clients.senders(place, TOPIC, history)
            others = clients.transactional_senders(place, TRANSACTIONS)
        self.transactions = Transactions(self.brokers, TRANSACTIONS, PARTITIONS, others)
        self.live = LiveReader(bootstrap, TOPIC, PARTITIONS, history.seen)
        self.leaders = LeaderWatcher(self.brokers, TOPIC, PARTITIONS, history)
        self.readers, self.offsets = [], []
        for protocol in PROTOCOLS:
            of_group = [GroupReader(bootstrap, protocol, protocol, TOPIC) for _ in range(2)]
            self.readers += of_group
            self.offsets.append(OffsetsWatcher(self.brokers, protocol, TOPIC, of_group, history))
        for one in self._repeating():
            one.start()

    def _repeating(self) -> list[Repeating]:
        if not hasattr(self, "offsets"):
            return []
        return [
            *self.senders,
            *self.transactions.senders,
            self.transactions.reader,
            self.live,
            self.leaders,
            *self.offsets,
            *self.readers,
        ]

    def _held(self) -> AbstractContextManager[None]:
        return self.transactions.held()

    # ---- faults

    def run(self, faults: int) -> Report:
        """So many, or one more. Its folder stays if anything is wrong."""
        with self:
            self._apply(faults)
            report = self._report()
            if self.bucket is not None:
                report.lines.append(f"{len(self.bucket.objects.names())} objects")
        if report.is_good:
            shutil.rmtree(self._folder, ignore_errors=True)
        return report

    def _apply(self, faults: int) -> None:
        others = OF_THE_BUCKET if self.bucket else {}
        if self._has_own_server:
            others = others | OF_ITS_OWN_SERVER
        for at_once in schedule(self.seed, NODE_IDS, others):
            if self.kinds.total() >= faults:
                break
            self._happen(at_once)
            if self._is_broken():
                break

    def _happen(self, faults: list[Fault]) -> None:
        time.sleep(faults[0].pause_s)
        self._prints(f"{self.elapsed_s:7.1f} s  {' and '.join(map(str, faults))}")
        failures: list[BaseException] = []

        def happen(fault: Fault) -> None:
            try:
                self.machines.happen(fault)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=happen, args=(fault,)) for fault in faults]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.kinds.update(fault.kind for fault in faults)
        for failure in failures:
            self._findings.append(f"a fault has no end: {failure}"[:300])
        if faults[0].waits:
            self._wait_for_progress(f"after {' and '.join(map(str, faults))}")

    def _wait_for_progress(self, when: str) -> None:
        began = time.monotonic()
        stuck = [
            f"{sender._name}: partition {index} is stuck {when}"
            for sender in self.senders
            for index in range(PARTITIONS)
            if not wait_for(
                lambda sender=sender, index=index: sender.newest_s[index] > began,
                max(0.0, began + SETTLES_S - time.monotonic()),
            )
        ]
        stuck += self.transactions.stuck(when, began, began + SETTLES_S)
        self._findings += stuck

    def _is_broken(self) -> bool:
        return bool(self._findings or self.history.wrong or self._errors())

    def _errors(self) -> list[str]:
        found = list(self.machines.wrong)
        for one in self._repeating():
            found += getattr(one, "errors", []) + getattr(one, "resets", [])
            if one.failure is not None:
                found.append(f"{type(one).__name__}: {one.failure!r}")
        is_given_up = self.machines.away_s > PATIENCE_S
        for node_id in NODE_IDS:
            for line in self.log_lines(node_id):
                is_expected = EXPECTED.search(line) or (is_given_up and GIVEN_UP in line)
                if any(one in line for one in ERRORS) and not is_expected:
                    found.append(f"log of broker {node_id}: {line}")
        return found

    def log_lines(self, node_id: int) -> Iterator[str]:
        yield from self.brokers[node_id].log(1 << 26).splitlines()

    # ---- the end

    def _report(self) -> Report:
        for node_id in NODE_IDS:
            try:
                self.machines.start_again(node_id)
            except AssertionError as failure:
                self._findings.append(f"broker {node_id} cannot start: {failure}"[:300])
        if not self._findings:
            self._wait_for_progress("at the end")
        for sender in (*self.senders, *self.transactions.senders):
            sender.stop()
        for reader in (self.live, self.transactions.reader):
            reader.at_rest.set()
        found: list[str] = []
        try:
            logs = {one: self._read_patiently(one) for one in range(PARTITIONS)}
        except (AssertionError, OSError) as failure:
            found += [*self.history.wrong, f"{UNREADABLE}: {failure}"]
        else:
            found += self._wait_for_readers({one: log.end for one, log in logs.items()})
            found += self.history.findings(logs)
            found += self._unread(logs)
            found += self.transactions.findings(READS_S)
        asking = (self.live, self.transactions.reader, self.leaders, *self.offsets)
        for one in (*asking, *self.readers):
            one.stop()
        found = [*self._findings, *self._errors(), *found]
        return report_of(self, list(dict.fromkeys(found)))

    def _wait_for_readers(self, ends: dict[int, int]) -> list[str]:
        found = []
        if not wait_for(lambda: dict(enumerate(self.live.positions)) == ends, READS_S):
            found.append(f"the reader stands at {self.live.positions}, not {ends}")
        for watcher in self.offsets:
            if not wait_for(lambda watcher=watcher: watcher.newest == ends, SETTLES_S):
                found.append(f"{watcher._group}: committed {watcher.newest}, not {ends}")
        return found

    def _unread(self, logs: dict[int, Log]) -> list[str]:
        everything = {one.value for log in logs.values() for one in log.records}
        found = []
        for protocol, of_group in zip(PROTOCOLS, (self.readers[:2], self.readers[2:]), strict=True):
            unread = everything - {value for one in of_group for value in one.values}
            if unread:
                found.append(f"{protocol}: {len(unread)} records unread, {sorted(unread)[:3]}")
        return found

    def _read_patiently(self, index: int) -> Log:
        """A broker may just start again."""
        until = time.monotonic() + SETTLES_S
        while True:
            try:
                return self._read(index)
            except (AssertionError, OSError, KeyError):
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def _read(self, index: int) -> Log:
        """By librdkafka, and the batches themselves."""
        seen = self.brokers.seen_by(NODE_IDS[0], TOPIC).partitions[TOPIC, index]
        batches = []
        with self.brokers[seen.leader].connect() as client:
            end = client.end_offset(TOPIC, index)
            position = 0
            while position < end:
                for base, raw in split_batches(client.fetch(TOPIC, position, index).records):
                    [epoch] = struct.unpack_from(">i", raw, 12)
                    [last_delta] = struct.unpack_from(">i", raw, 23)
                    producer = struct.unpack_from(">qhi", raw, 43)
                    batches.append(Batch(base, base + last_delta, epoch, producer))
                assert batches, f"nothing at {position} of {index}"
                assert batches[-1].last_offset >= position, f"nothing at {position} of {index}"
                position = batches[-1].last_offset + 1
        records = [
            Record(message.offset() or 0, (message.value() or b"").decode())
            for message in read(self.brokers.bootstrap, TOPIC, end, partition=index)
        ]
        return Log(end, records, batches)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.began_s
