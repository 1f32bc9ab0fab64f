"""Three stages of a chain: each is a group that reads one topic and writes the next.

Members live in a few processes, so that a kill takes several at once, of any stage.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from confluent_kafka import TopicPartition

from tests.e2e.broker_process import Address
from tests.e2e.groups.churn.history import GroupChecker, Report
from tests.e2e.groups.churn.schedule import STAGES, Action, Step
from tests.e2e.groups.members import CHANGED, ClientProcess, Member, wait_until
from tests.e2e.librdkafka import assigned_consumer

PARTITIONS = 12
SESSION_MS = 2000
#: librdkafka 2.16 waits for a heartbeat response until the next heartbeat, here 200 ms. If a busy
#: machine takes longer, it drops the connection and sends no full heartbeat, so that it misses a
#: revocation, here as with Kafka ("lost responses" in
#: tests/oracle/scenarios/consumer_group_heartbeat.py). It is removed after this time, and rejoins.
REBALANCE_MS = 12_000
#: One per stage.
ASSIGNORS = {
    "classic": ("range", "cooperative-sticky", "roundrobin"),
    "consumer": ("uniform", "range", "uniform"),
}
#: Each member has either protocol, so that groups are converted repeatedly.
MIXED = "mixed"
PROTOCOLS = (*ASSIGNORS, MIXED)
EAGER = ("range", "roundrobin")
#: Groups of librdkafka's cooperative-sticky cannot be upgraded, here as with Kafka: their
#: assignments have user data.
UPGRADED = ("range", "roundrobin", "range")


class Link(NamedTuple):
    """A stage: its group and its two topics."""

    group: str
    source: str
    onward: str
    #: The assignor by protocol.
    assignors: dict[str, str]


@dataclass
class Alive:
    member: Member
    stage: int
    instance: str | None


class Chain:
    def __init__(self, address: Address, protocol: str, most: int, folder: Path) -> None:
        name = f"chain-{uuid4().hex[:8]}"
        self.address, self.protocol, self.most, self.folder = address, protocol, most, folder
        self.topics = [f"{name}-{number}" for number in range(STAGES + 1)]
        by_protocol = ASSIGNORS | ({"classic": UPGRADED} if protocol == MIXED else {})
        self.links = [
            Link(
                f"{name}-stage-{n}",
                self.topics[n],
                self.topics[n + 1],
                {name: assignors[n] for name, assignors in by_protocol.items()},
            )
            for n in range(STAGES)
        ]
        # A kill ends about a third of a stage.
        self.processes: list[ClientProcess | None] = [None] * max(2, most // 2)
        self.alive: list[Alive] = []
        #: All members so far, by group and owner name.
        self.all_members: list[tuple[str, str, Member]] = []
        self.free_instances: list[list[str]] = [[] for _ in range(STAGES)]
        self.happened: Counter[str] = Counter()
        self.most_at_once = 0
        self.arrived: list[str] = []

    def create_topics(self) -> None:
        with self.address.connect() as client:
            for topic in self.topics:
                assert client.create_topic(topic, PARTITIONS) == 0
                while client.usable_partitions(topic, PARTITIONS) < PARTITIONS:
                    pass  # Apache Kafka responds before its brokers know the topic

    def checkers(self) -> list[GroupChecker]:
        return [
            GroupChecker(
                link.group,
                [(link.source, partition) for partition in range(PARTITIONS)],
                self.protocol == "classic" and link.assignors["classic"] in EAGER,
            )
            for link in self.links
        ]

    # --- actions

    def take(self, step: Step) -> None:
        match step.action:
            case Action.JOIN | Action.JOIN_STATIC:
                self.join(step)
            case Action.LEAVE:
                self.leave(step)
            case Action.KILL:
                self.kill(int(step.chance * len(self.processes)))

    def of_stage(self, stage: int) -> list[Alive]:
        return [one for one in self.alive if one.stage == stage]

    def join(self, step: Step) -> None:
        if len(self.of_stage(step.stage)) >= self.most:
            return
        link = self.links[step.stage]
        protocol = self.protocol
        if protocol == MIXED:
            protocol = list(ASSIGNORS)[int(step.chance * 1_000) % 2]
        facts = {
            "bootstrap": self.address.bootstrap,
            "group": link.group,
            "topics": link.source,
            "onward": link.onward,
            "protocol": protocol,
            "assignor": link.assignors[protocol],
            "commit": "manual",
            "session_ms": str(SESSION_MS),
            "poll_ms": str(REBALANCE_MS),
        }
        instance = None
        if step.action is Action.JOIN_STATIC:
            instance = facts["instance"] = self.free_instance(step.stage)
        member = self.process(int(step.chance * len(self.processes))).join(**facts)
        self.alive.append(Alive(member, step.stage, instance))
        self.all_members.append((link.group, instance or member.name, member))
        self.happened[step.action.value] += 1
        self.most_at_once = max(self.most_at_once, len(self.alive))

    def free_instance(self, stage: int) -> str:
        free = self.free_instances[stage]
        return free.pop(0) if free else f"instance-{uuid4().hex[:8]}"

    def process(self, number: int) -> ClientProcess:
        found = self.processes[number]
        if found is None:
            found = ClientProcess("chain", self.folder / f"process-{number}")
            self.processes[number] = found
        return found

    def leave(self, step: Step) -> None:
        there = self.of_stage(step.stage)
        if len(there) < 2:  # one member stays
            return
        one = there[int(step.chance * len(there))]
        self.alive.remove(one)
        self.happened[step.action.value] += 1
        if one.instance is None:
            one.member.gone = True
            one.member.process.send(member=one.member.name, do="leave")
        else:
            one.member.leave()
            if self.protocol != MIXED:  # a static member cannot return in the other protocol
                self.free_instances[one.stage].append(one.instance)

    def kill(self, number: int) -> None:
        process = self.processes[number]
        if process is None:
            return
        self.processes[number] = None
        process.kill()
        self.happened["kill"] += 1
        for one in [one for one in self.alive if one.member.process is process]:
            self.alive.remove(one)
            self.happened["killed"] += 1
            # KIP-848 reserves the instance id until the session expires.
            if one.instance and self.protocol == "classic":
                self.free_instances[one.stage].append(one.instance)

    # --- the end

    @contextmanager
    def reading_the_end(self) -> Iterator[None]:
        enough = threading.Event()

        def read() -> None:
            with assigned_consumer(self.address.bootstrap, self.topics[-1]) as consumer:
                consumer.assign([TopicPartition(self.topics[-1], p, 0) for p in range(PARTITIONS)])
                while not enough.is_set():
                    some = consumer.consume(1_000, 0.05)
                    with CHANGED:
                        self.arrived += [(m.value() or b"").decode() for m in some]
                        CHANGED.notify_all()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            yield
        finally:
            enough.set()
            reader.join()

    def wait_until_all_arrived(self, produced: list[str]) -> None:
        missing = set(produced)

        def all_there() -> bool:
            missing.difference_update(self.arrived)
            return not missing

        wait_until(all_there, lambda: f"{len(missing)} records at the end, {sorted(missing)[:5]}")

    def wait_until_shared(self) -> None:
        """Waits until the members report one owner per partition."""
        for stage, link in enumerate(self.links):
            members = [one.member for one in self.of_stage(stage)]
            everything = sorted((link.source, partition) for partition in range(PARTITIONS))

            def shared(members: list[Member] = members, all_of_it: object = everything) -> bool:
                return sorted(place for m in members for place in m.assigned) == all_of_it

            wait_until(shared, members.copy)

    def fill_up(self) -> None:
        """Adds members, so that each stage has two."""
        for stage in range(STAGES):
            while len(self.of_stage(stage)) < 2:
                self.join(Step(0, Action.JOIN, stage, 0.0))

    def reports(self) -> list[Report]:
        return [
            Report(group, generation, owner, held)
            for group, owner, member in self.all_members
            for generation, held in member.assignments
        ]

    def close(self) -> None:
        for process in self.processes:
            if process is not None:
                process.kill()
