"""Consumers of any client in other processes, controlled by commands that return events.

The format is in tests/e2e/groups/clients/lines.py.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e import test_java
from tests.e2e.broker_process import environment
from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command

PATIENCE_S = 30.0
CHANGED = threading.Condition()
Place = tuple[str, int]


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    value: str


class Refused(Exception):
    """The exception of the client, by its name."""


class Flavour(NamedTuple):
    """A client, and its settings for a group."""

    client: str
    settings: Mapping[str, str]

    def __str__(self) -> str:
        return "-".join((self.client, *self.settings.values()))


def wait_until(true: Callable[[], bool], what: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    with CHANGED:
        while not true():
            left_s = deadline - time.monotonic()
            assert left_s > 0, f"within {PATIENCE_S} s: {what()}"
            CHANGED.wait(left_s)


class Member:
    def __init__(self, process: ClientProcess, name: str) -> None:
        self.process, self.name = process, name
        self.records: list[Record] = []
        self.assigned: frozenset[Place] = frozenset()
        #: Each assignment: the generation, if the client reports it, and all partitions.
        self.assignments: list[tuple[int, frozenset[Place]]] = []
        self.troubles: list[str] = []
        self.taken = 0
        self.gone = False

    def on_event(self, event: dict[str, Any]) -> None:
        self.records += [Record(*record) for record in event.get("records", ())]
        if "assigned" in event:
            self.assigned = frozenset((topic, partition) for topic, partition in event["assigned"])
            self.assignments.append((event.get("generation", -1), self.assigned))
        self.troubles += [event[kind] for kind in ("died", "complaint") if kind in event]

    def do(self, what: str, *places: tuple[Any, ...], **more: str) -> None:
        spelt = ",".join(":".join(map(str, place)) for place in places)
        self.process.ask_for(
            member=self.name, do=what, **({"places": spelt} if spelt else {}), **more
        )

    def take(self, count: int) -> list[Record]:
        """Waits for the next records."""
        until = self.taken + count
        wait_until(lambda: len(self.records) >= until, lambda: f"{count} records for {self}")
        taken = self.records[self.taken : until]
        self.taken = until
        return taken

    def forget(self) -> None:
        """Skips the records so far."""
        self.taken = len(self.records)

    def leave(self) -> None:
        self.gone = True
        self.do("leave")

    def __repr__(self) -> str:
        return (
            f"{self.name} ({len(self.records)} records, holds {sorted(self.assigned)}, "
            f"{self.troubles[-3:]})"
        )


class ClientProcess(LineProcess):
    """A process that hosts consumers of one client."""

    numbers = itertools.count(1)

    def __init__(self, client: str, errors: Path) -> None:
        command, extra = COMMANDS[client]()
        super().__init__(command, errors, {**environment(), **extra})
        self.members: dict[str, Member] = {}
        self.outcomes: dict[int, dict[str, Any]] = {}
        self.ended = False
        self.listening = threading.Thread(target=self.listen, daemon=True)
        self.listening.start()

    def listen(self) -> None:
        for line in self.responses:
            event = json.loads(line)
            with CHANGED:
                if "id" in event:
                    self.outcomes[event["id"]] = event
                else:
                    self.members[event["member"]].on_event(event)
                CHANGED.notify_all()
        with CHANGED:
            self.ended = True
            CHANGED.notify_all()

    def ask_for(self, **fields: str) -> Any:
        return self.outcome(self.send(**fields))

    def send(self, **fields: str) -> int:
        number = next(self.numbers)
        line = "\t".join(f"{name}={value}" for name, value in {"id": number, **fields}.items())
        self.requests.write(line.encode() + b"\n")
        self.requests.flush()
        return number

    def outcome(self, number: int) -> Any:
        wait_until(
            lambda: number in self.outcomes or self.ended or self.deaths() != [],
            lambda: f"a response of {list(self.members.values())}: {self.complaints()}",
        )
        assert number in self.outcomes, f"{self.deaths()} {self.complaints()}"
        response = self.outcomes.pop(number)
        if "error" in response:
            raise Refused(response["error"])
        return response["result"]

    def deaths(self) -> list[Member]:
        return [m for m in self.members.values() if any("died" in t for t in m.troubles)]

    def join(self, **settings: str) -> Member:
        name = f"member-{next(self.numbers)}"
        self.members[name] = Member(self, name)
        self.ask_for(member=name, do="join", **settings)
        return self.members[name]

    def kill(self) -> None:
        """Kills the process: its members do not leave the group."""
        self.process.kill()
        self.close()

    def close(self) -> None:
        if not self.requests.closed:
            for member in self.members.values():
                member.gone = True
            self.requests.close()
            try:
                self.process.wait(timeout=10)
            finally:
                self.process.kill()
                self.listening.join(10)
                super().close()


def python_members(module: str) -> Callable[[], tuple[list[str], Mapping[str, str]]]:
    name = f"tests.e2e.groups.clients.{module}"
    return lambda: ([sys.executable, "-P", "-m", name], {})


def kafkajs_members() -> tuple[list[str], Mapping[str, str]]:
    return kafkajs_command("members.js")


def java_members() -> tuple[list[str], Mapping[str, str]]:
    return test_java.compiled(test_java.VERSIONS[0], test_java.MEMBERS), {}


COMMANDS: dict[str, Callable[[], tuple[list[str], Mapping[str, str]]]] = {
    "confluent": python_members("confluent_members"),
    "aiokafka": python_members("aiokafka_members"),
    "kafkajs": kafkajs_members,
    "java": java_members,
    "chain": python_members("chain_members"),
}


def values(members: Iterable[Member]) -> list[str]:
    return [record.value for member in members for record in member.records]


def wait_for_shares(members: Iterable[Member], topic: str, partitions: int) -> None:
    """Waits until each member has a partition, and each partition has one member."""
    sharing = list(members)
    everything = {(topic, partition) for partition in range(partitions)}

    def shared() -> bool:
        held = [place for member in sharing for place in member.assigned]
        return set(held) == everything and len(held) == len(everything) and busy()

    def busy() -> bool:
        return len(sharing) > partitions or all(member.assigned for member in sharing)

    wait_until(shared, lambda: f"all partitions of {topic} shared by {sharing}")


def wait_for_all(values_: Iterable[str], members: Iterable[Member]) -> None:
    """Waits until each value was received at least once."""
    receivers, missing = list(members), set(values_)

    def seen() -> bool:
        missing.difference_update(values(receivers))
        return not missing

    wait_until(seen, lambda: f"{len(missing)} values, {sorted(missing)[:5]}, for {receivers}")
