"""Clients in other languages: a line of fields with the verb in front gives "ok" and a
result, a refusal, or what went wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command
from tests.e2e.transactions.stories import Fenced, Refused

REFUSALS = {"fenced": Fenced, "invalid state": Refused}
_NAMES = (f"h{number}" for number in count())


@contextmanager
def kafkajs_process(folder: Path) -> Iterator[LineProcess]:
    command, where = kafkajs_command("transactions.js")
    process = LineProcess(command, folder / "stderr", os.environ | where)
    yield process
    process.close()


class Caller(NamedTuple):
    process: LineProcess
    bootstrap: str

    def call(self, verb: str, *fields: str | int) -> list[str]:
        request = "\t".join(map(str, (verb, self.bootstrap, *fields)))
        outcome, *result = self.process.request(request).split("\t")
        if outcome in REFUSALS:
            raise REFUSALS[outcome](*result)
        assert outcome == "ok", f"{outcome}: {result}\n{self.process.complaints()}"
        return result


class TransactionalProducer:
    def __init__(self, caller: Caller, transactional_id: str, timeout_ms: int) -> None:
        self.call, self.name = caller.call, next(_NAMES)
        self.call("producer", self.name, transactional_id, timeout_ms)

    def begin(self) -> None:
        self.call("begin", self.name)

    def send(self, topic: str, *values: str, partition: int = 0) -> None:
        self.call("send", self.name, topic, partition, *values)

    def send_offsets(self, member: Member) -> None:
        self.call("send_offsets", self.name, member.name)

    def commit(self) -> None:
        self.call("commit", self.name)

    def abort(self) -> None:
        self.call("abort", self.name)


class Member:
    def __init__(self, caller: Caller, group: str, topic: str, count: int) -> None:
        self.call, self.name = caller.call, next(_NAMES)
        self.values = self.call("consumer", self.name, group, topic, count)

    def close(self) -> None:
        self.call("close", self.name)


class LineClient:
    def __init__(self, process: LineProcess, bootstrap: str) -> None:
        self.caller = Caller(process, bootstrap)

    def producer(self, transactional_id: str, timeout_ms: int) -> TransactionalProducer:
        return TransactionalProducer(self.caller, transactional_id, timeout_ms)

    def consumer(self, group: str, topic: str, count: int) -> Member:
        return Member(self.caller, group, topic, count)

    def read(self, topic: str, count: int, committed: bool, partitions: int = 1) -> list[str]:
        level = "read_committed" if committed else "read_uncommitted"
        return self.caller.call("read", topic, count, level, partitions)
