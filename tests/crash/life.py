"""One data folder and its clients, through several deaths of the broker, by a seed.

The plan (what clients send, where the broker dies) is drawn from the seed; scheduling is not, so a
seed repeats the plan and not every step.
"""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.crash.admin import STORAGE_ERROR, Admin
from tests.crash.broker import VIOLENT, Broker, Nursery
from tests.crash.checking import Check
from tests.crash.consumer import Consumer
from tests.crash.database import CUT, SERVER_IS_AWAY, Database, Trouble
from tests.crash.deaths import Death, Executioner
from tests.crash.deleter import Deleter
from tests.crash.fleet import Client, Fleet
from tests.crash.ledger import Broken
from tests.crash.members import ClassicMember, ConsumerMember, Group
from tests.crash.offsets import Ledgers, OffsetCommitter
from tests.crash.payload import Payload
from tests.crash.points import FLUSHES, FLUSHES_OF_A_DATABASE
from tests.crash.producers import (
    AcksZeroProducer,
    IdempotentProducer,
    PlainProducer,
    RetryingProducer,
    ShortLivedProducer,
    TopicHoppingProducer,
)
from tests.crash.store import check_rows, check_store
from tests.crash.topics import Topic, Topics
from tests.e2e.raw_client import RawClient

MAIN_PARTITIONS = 3
#: A main topic is deleted after so many deaths.
MOVE_EVERY = 3
#: Free bytes at the beginning of a run with a full map.
ROOM_BYTES = 128 * 1024
#: One of so many commits fails.
FAILS = 40
#: Most runs are over after a tenth of a second.
TROUBLE_WITHIN_S = 0.04
#: Warnings that a dying and restarting broker may log, and no others.
FORESEEN = re.compile("produce_failed|storage_failed")


class Life:
    def __init__(
        self,
        nursery: Nursery,
        folder: Path,
        seed: int,
        flush: str | None = None,
        fault: str | None = None,
        offsets: str = "",
        engine: str = "lmdb",
        database: Database | None = None,
    ) -> None:
        self.seed, self.chance = seed, random.Random(seed)
        #: In place of an engine over a folder.
        self.database = database
        self.flushes = FLUSHES if database is None else FLUSHES_OF_A_DATABASE
        self.flush = flush or self.chance.choice(self.flushes)
        self.fault = fault
        folder.mkdir(parents=True, exist_ok=True)
        url = "" if database is None else database.url
        self.broker = Broker(nursery, folder, self.flush, offsets, engine=engine, url=url)
        self.topics = Topics()
        self.offsets = Ledgers()
        self.payload = Payload(self.chance)
        self.log_lines: list[str] = []
        #: Whether each event is printed at once.
        self.prints = False
        self.deaths = self.batches = self.mains = 0
        self.log_position = 0
        self.clients: list[Client] = []
        self.plain: list[PlainProducer] = []
        #: This run, and the last one under load.
        self.storage_may_fail = self.storage_was_failing = False
        #: Of this run.
        self.trouble = Trouble(None, self.chance, self.flush)
        self._hire()

    def say(self, line: str) -> None:
        self.log_lines.append(f"{self.deaths:4}  {line}")
        if self.prints:
            print(self.log_lines[-1], flush=True)

    def _hire(self) -> None:
        payload, topics = self.payload, self.topics
        self.plain = [
            PlainProducer("acks=all", payload, topics, acks=-1),
            PlainProducer("acks=1", payload, topics, acks=1),
            AcksZeroProducer("acks=0", payload, topics),
        ]
        steady = IdempotentProducer("idempotent", payload, topics)
        large = IdempotentProducer("large", payload, topics)
        large.large = 2
        self.clients = [
            large,
            steady,
            *self.plain,
            RetryingProducer("retrying", payload, topics),
            ShortLivedProducer("newcomer", payload, topics),
            TopicHoppingProducer("wanderer", payload, topics),
            Admin(self.chance, topics),
            Deleter(self.chance, topics),
            Consumer(topics),
            OffsetCommitter("committer", topics, self.offsets),
            OffsetCommitter("other committer", topics, self.offsets),
            *self._members(),
        ]

    def _members(self) -> list[Client]:
        """Two members of either protocol; one of them commits for both."""
        classic, modern = Group("classic"), Group("modern")
        return [
            ClassicMember("classic 1", classic, self.topics, self.offsets),
            ClassicMember("classic 2", classic, self.topics, None),
            ConsumerMember("modern 1", modern, self.topics, self.offsets),
            ConsumerMember("modern 2", modern, self.topics, None),
        ]

    # ---- one run

    def run(self, deaths: Iterable[Death]) -> None:
        for death in deaths:
            self.live(death)

    def live(self, death: Death) -> None:
        self.deaths += 1
        if self._starts(death) and not self._dies_while_it_is_read(death):
            self._work(death)
        self._check_end(death)

    def _starts(self, death: Death) -> bool:
        plan = self._plan(death)
        connects = death.point is not None and death.point.connects_again
        flush, what = plan.get("flush", self.flush), CUT if connects else ""
        self.trouble = Trouble(self.database, self.chance, flush, what, TROUBLE_WITHIN_S)
        self.say(f"{death.title} {plan} {self.trouble.what}")
        ready = self.broker.start(fault=self.fault, **plan)
        # Upkeep of PostgreSQL may pass its point before that.
        if not ready and (death.point is None or self.broker.code not in VIOLENT):
            raise Broken(f"the broker did not start: exit {self.broker.code}")
        return ready

    def _plan(self, death: Death) -> dict[str, Any]:
        chance, point = self.chance, death.point
        # Production limits of megabytes are kilobytes here; points need it.
        small = point is not None or chance.random() < 0.7
        plan: dict[str, Any] = {"small": small}
        if small:
            slices = point is not None and point.name.startswith(("slice:", "trimmed"))
            plan["slice_batches"] = 2 if slices else 32
            if slices:
                plan["segment_bytes"] = 512
        often = point is not None and point.name.startswith("flush:")
        plan["flush_interval_ms"] = 2 if often else chance.choice([1, 10, 1000])
        if point is None and chance.random() < 0.2:
            plan["flush"] = chance.choice(self.flushes)  # the setting was changed
        if point is not None:
            plan |= {"point": point.name, "passage": chance.randint(1, point.most)}
            # A commit takes some 20 us without an fsync, and up to a millisecond with one.
            plan["moment_us"] = int(10 ** chance.uniform(0, 3))
        self.storage_may_fail = point is not None and point.full_map
        if self.storage_may_fail and self.broker.engine == "files":
            plan["fails"] = FAILS
        elif self.storage_may_fail:
            data = self.broker.folder / "data" / "data.mdb"
            size = data.stat().st_size if data.exists() else 0
            plan["map_size_bytes"] = (size + ROOM_BYTES) // 4096 * 4096
        return plan

    def _dies_while_it_is_read(self, death: Death) -> bool:
        try:
            self._check()
            if self.topics.main.partitions == 0 or self.deaths % MOVE_EVERY == 0:
                self._move()
        except ConnectionError:
            if death.point is None:
                raise
            self.broker.wait()
            return True
        return False

    def _check(self) -> None:
        streams = [] if self.storage_was_failing else [one.stream for one in self.plain]
        check = Check(self.broker.port, self.chance)
        self.batches = check.all(self.topics, streams, self.offsets)
        for one in self.plain:
            one.begin()

    def _move(self) -> None:
        """Creates a new main topic; the old one is deleted with its records."""
        self.mains += 1
        topic = self.topics.add(Topic(f"main-{self.mains}", MAIN_PARTITIONS))
        with RawClient("127.0.0.1", self.broker.port, patience_s=10) as client:
            error = client.create_topic(topic.name, MAIN_PARTITIONS)
            if error == STORAGE_ERROR and self.storage_may_fail:
                error = client.create_topic(topic.name, MAIN_PARTITIONS)
        if error:
            raise Broken(f"{topic.name} cannot be made: error {error}")
        topic.sure = True
        self.topics.main = topic
        for client_ in self.clients:
            if isinstance(client_, IdempotentProducer | RetryingProducer):
                client_.move()

    def _work(self, death: Death) -> None:
        for client in self.clients:
            client.storage_may_fail = self.storage_may_fail
            client.may_lack_coordinator = self.database is not None
            client.reads_may_fail = self.trouble.reads_may_fail
        self.storage_was_failing = self.storage_may_fail
        fleet = Fleet(self.broker, self.clients)
        with self.trouble:
            fleet.run(Executioner(self.broker, death))
        self.say(f"gone after {fleet.responses} responses")

    def _check_end(self, death: Death) -> None:
        code = self.broker.wait()
        self._check_log()
        if code not in death.codes:
            raise Broken(f"the broker ended with {code}: {death.title}\n{self.broker.log()}")

    def _check_log(self) -> None:
        log = self.broker.log_file.read_text(errors="replace")
        new, self.log_position = log[self.log_position :], len(log)
        for line in new.splitlines():
            grave = '"level":"warning"' in line or '"level":"error"' in line or "{" not in line
            foreseen = (self.storage_may_fail and FORESEEN.search(line)) or (
                self.trouble.reads_may_fail and SERVER_IS_AWAY.search(line)
            )
            if grave and not foreseen:
                raise Broken(f"the broker says: {new[-4000:]}")

    # ---- the end of it

    def end(self) -> None:
        """A last run without a death, then a check of the store itself."""
        self.live(Death("SIGTERM in the end", responses=20, number=signal.SIGTERM))
        assert self.broker.start()
        self.trouble = Trouble(None, self.chance, self.flush)
        self._check()
        self.broker.signal(signal.SIGTERM)
        if self.broker.wait() != 0:
            raise Broken(f"the end was not in order:\n{self.broker.log()}")
        self._check_log()
        if self.database is None:
            check_store(self.broker.folder / "data", self.broker.engine)
        else:
            check_rows(self.database.url)
