"""Power cuts over one recorded run, each drawn by a seed and judged in a process of its own.

`unsynced` removes the syncs from the trace: the judge must notice.
"""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infrastructure.storage.lmdb.recovery_point import UNSYNCED_FILE
from tests.fakes.client import InProcessKafka
from tests.fakes.machine import restart_machine
from tests.fakes.topic_requests import create, new
from tests.power.disk import Disk, with_ends_of_synced_writes
from tests.power.judge import Judge, Verdict
from tests.power.ledger import Ledger
from tests.power.recording import Event, read_trace, recorded_in

#: The mark before a flush, which makes durable what is committed then.
FLUSHING = json.dumps([["flushing"]]).encode()

#: Timeout of a judge.
PATIENCE_S = 30

#: Share of the moments during the first start: few, and all different.
BEGINNING = 40


@dataclass
class Cut:
    seed: int
    at: int
    style: str
    outcome: str
    why: str

    def line(self) -> str:
        return json.dumps(vars(self))


class Replays:
    def __init__(self, folder: Path, unsynced: bool = False) -> None:
        self._engine, flush = recorded_in(folder)
        self._flush = flush
        self._root = str(folder / "disk")
        events = with_ends_of_synced_writes(read_trace(folder / "trace"))
        #: The promises of the unchanged run, also for a changed trace.
        self._promises = list(_promised_until(events, self._engine, flush))
        self._events = events
        if unsynced:
            nothing = Event("M", 0, 0, b"[]")
            self._events = [nothing if event.kind in "SsFfw" else event for event in events]
        self._marks: list[tuple[int, Any]] = [
            (at, json.loads(event.data)) for at, event in enumerate(events) if event.kind == "M"
        ]

    def run(self, seeds: range) -> Iterator[Cut]:
        moments = sorted((self._moment(seed), seed) for seed in seeds)
        disk, at = Disk(self._root), 0
        _warm_up(self._engine)
        for moment, seed in moments:
            for event in self._events[at:moment]:
                disk.apply(event)
            at = moment
            yield self._replay(disk, moment, seed)

    def _moment(self, seed: int) -> int:
        chance = random.Random(f"the moment of {seed}")
        end = BEGINNING if chance.random() < 0.05 else len(self._events)
        return chance.randint(1, end)

    def _replay(self, disk: Disk, moment: int, seed: int) -> Cut:
        place = Path(tempfile.mkdtemp(prefix="power-", dir=_memory()))
        try:
            style = disk.cut(place, random.Random(f"what {seed} leaves"))
            judge = Judge(
                self._ledger(moment), self._ledger(self._promises[moment - 1]), self._engine
            )
            (place / "data").mkdir(exist_ok=True)
            restart_machine(place / "data")
            verdict = _in_a_process(judge, place / "data", self._flush)
        finally:
            shutil.rmtree(place)
        return Cut(seed, moment, style, verdict.outcome, verdict.why)

    def _ledger(self, until: int) -> Ledger:
        ledger = Ledger()
        for at, mark in self._marks:
            if at >= until:
                break
            ledger.note(mark)
        return ledger


def _promised_until(events: list[Event], engine: str, flush: str) -> Iterator[int]:
    """For each moment: the event before which marks are promised.

    With files:// and flush=os nothing is: compaction may have taken away what was synced.
    """
    names: dict[int, str] = {}
    looked = begun = synced = until = 0
    for at, event in enumerate(events):
        name = names.get(event.file, "")
        match event.kind:
            case "O":
                names[event.file] = name = Path(event.data.decode()).name
                # The start makes durable what it finds.
                looked = at if name == "data.mdb" else looked
            case "M" if event.data == FLUSHING:
                looked = at
            case "S" if name == "data.mdb":
                begun = at
            case "s" if name == "data.mdb":
                synced = begun
                until = synced if flush == "os" else until
            case "s":
                # It ends when that root is durable, or when the store is closed.
                until = looked if name == UNSYNCED_FILE else synced
        if (engine, flush) == ("files", "os"):
            until = 0
        yield at + 1 if flush == "commit" else until


def _in_a_process(judge: Judge, folder: Path, flush: str) -> Verdict:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reader)
            signal.alarm(PATIENCE_S)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
            try:
                verdict = judge.judge(folder, flush)
            except Exception as fault:
                verdict = Verdict("fault", "".join(traceback.format_exception(fault))[-600:])
            os.write(writer, json.dumps(vars(verdict)).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as output:
            encoded = output.read()
    except KeyboardInterrupt:
        os.kill(child, signal.SIGKILL)
        raise
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        hung = number == signal.SIGALRM
        return Verdict("hung" if hung else "killed", signal.Signals(number).name)
    assert encoded, f"a judge ended with {status} without output"
    return Verdict(**json.loads(encoded))


def _warm_up(engine: str) -> None:
    """Imports modules and compiles messages once for all judges."""
    place = Path(tempfile.mkdtemp(prefix="power-", dir=_memory()))
    try:
        kafka = InProcessKafka(f"{engine}://{place}")
        (topic,) = create(kafka.client(), new("t", 1))
        kafka.close()
        ledger = Ledger()
        ledger.note([["topic", "t", topic.topic_id.hex(), 1, -1]])
        judge = Judge(ledger, ledger, engine)
        assert judge.judge(place, "commit").outcome == "intact"
    finally:
        shutil.rmtree(place)
    gc.collect()
    gc.freeze()


def _memory() -> str | None:
    """Replays do not need the store's syncs: they would only take time."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
