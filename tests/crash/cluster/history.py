"""What clients of several brokers have seen, and what is wrong with it. Without I/O."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

#: As they are printed.
LOST, DOUBLED, REORDERED = "lost record", "doubled record", "reordered records"
DIFFERENT, UNSENT = "different values at one offset", "a record that was not sent"
NO_OFFSET = "acknowledged without an offset"
WENT_BACK, TWO_LEADERS = "went back", "two leaders in one epoch"
EPOCH_FELL, GAP = "leader epochs fall in a log", "gap in a log"
UNREADABLE = "the log cannot be read"
MOST_FINDINGS = 5


def kinds(findings: Sequence[str]) -> set[str]:
    return {one.partition(": ")[0] for one in findings}


class Batch(NamedTuple):
    base_offset: int
    last_offset: int
    epoch: int
    #: Id, epoch and first sequence of the producer.
    producer: tuple[int, int, int] = (-1, -1, -1)


class Record(NamedTuple):
    """A value is `producer:number`; numbers of a producer rise in each partition."""

    offset: int
    value: str


class Log(NamedTuple):
    """A partition as it is read at the end."""

    end: int
    records: Sequence[Record]
    batches: Sequence[Batch]


class History:
    """Filled by several threads."""

    def __init__(self, idempotent: Sequence[str], once: Sequence[str] = ()) -> None:
        """`once`: those of which no record may be there twice, whatever its batches say."""
        self._idempotent, self._once = frozenset(idempotent), frozenset(once)
        self._lock = threading.Lock()
        self._sent: dict[int, set[str]] = defaultdict(set)
        self._acknowledged: dict[int, dict[int, str]] = defaultdict(dict)
        self._somewhere: dict[int, set[str]] = defaultdict(set)
        #: By consumers, at any time.
        self._seen: dict[int, dict[int, str]] = defaultdict(dict)
        self._leaders: dict[tuple[int, int], int] = {}
        self._ends: dict[int, tuple[int, int]] = {}
        #: While it runs.
        self.wrong: list[str] = []
        #: Records that a client has sent again in a new epoch of its producer.
        self.sent_again = 0

    # ---- while it runs

    def sent(self, partition: int, value: str) -> None:
        with self._lock:
            self._sent[partition].add(value)

    def acknowledged(self, partition: int, offset: int, value: str) -> None:
        """A negative offset: an idempotent client has learned from a later response that it is
        there.
        """
        if offset < 0:
            with self._lock:
                self._somewhere[partition].add(value)
            if value.partition(":")[0] not in self._idempotent:
                self._found(NO_OFFSET, f"{partition}: {value}")
            return
        with self._lock:
            before = self._acknowledged[partition].setdefault(offset, value)
        if before != value:
            self._found(DIFFERENT, f"{partition}/{offset}: {before} and {value} acknowledged")

    def seen(self, partition: int, offset: int, value: str) -> None:
        with self._lock:
            before = self._seen[partition].setdefault(offset, value)
        if before != value:
            self._found(DIFFERENT, f"{partition}/{offset}: {before} and {value} were read")

    def leads(self, partition: int, epoch: int, node_id: int) -> None:
        """As any broker responds."""
        with self._lock:
            before = self._leaders.setdefault((partition, epoch), node_id)
        if before != node_id:
            self._found(TWO_LEADERS, f"{partition}, epoch {epoch}: {before} and {node_id}")

    def newest_end(self, partition: int) -> tuple[int, int]:
        """The leader epoch and the high watermark."""
        with self._lock:
            return self._ends.get(partition, (-1, -1))

    def ends(self, partition: int, epoch: int, end: int, before: tuple[int, int]) -> bool:
        """`before`: the newest end when it was asked for. False: by a leader of the past."""
        with self._lock:
            if (epoch, end) > self._ends.get(partition, (-1, -1)):
                self._ends[partition] = epoch, end
        if epoch < before[0]:
            return False
        if end < before[1]:
            self._found(WENT_BACK, f"high watermark of {partition}: {before} to {(epoch, end)}")
        return True

    def _found(self, what: str, where: str) -> None:
        self.wrong.append(f"{what}: {where}")

    @property
    def acknowledgements(self) -> int:
        return sum(map(len, self._acknowledged.values()))

    @property
    def without_offset(self) -> int:
        """Further records that are acknowledged."""
        return sum(map(len, self._somewhere.values()))

    @property
    def epochs(self) -> int:
        return len(self._leaders)

    # ---- at the end

    def findings(self, logs: Mapping[int, Log]) -> list[str]:
        found = list(self.wrong)
        for partition, log in sorted(logs.items()):
            found += self._of_log(partition, log)[:MOST_FINDINGS]
        return found

    def _of_log(self, partition: int, log: Log) -> list[str]:
        found: list[str] = []
        there = {one.offset: one.value for one in log.records}

        def add(what: str, where: object) -> None:
            found.append(f"{what}: {partition}/{where}")

        if [one.offset for one in log.records] != list(range(log.end)):
            add(GAP, f"{len(log.records)} records below {log.end}")
        for what, others in ((LOST, self._acknowledged), (DIFFERENT, self._seen)):
            for offset, value in sorted(others[partition].items()):
                if there.get(offset) != value:
                    add(what, f"{offset}: {value}, and then {there.get(offset)}")
        for value in self._somewhere[partition] - set(there.values()):
            add(LOST, f"{value}, without an offset")
        for value in set(there.values()) - self._sent[partition]:
            add(UNSENT, value)
        newest: dict[str, int] = {}
        for value, count in Counter(there.values()).items():  # in the order of first offsets
            producer, _, number = value.partition(":")
            if producer not in self._idempotent:
                continue
            if count > 1:
                copies = _copies(value, log)
                is_new_epoch = len({batch.producer[:2] for _, batch in copies}) == count
                if is_new_epoch and producer not in self._once:
                    self.sent_again += 1
                else:
                    where = (f"{at} in epoch {one.epoch} by {one.producer}" for at, one in copies)
                    add(DOUBLED, f"{value}: {count} times, {', '.join(where)}")
            if int(number) < newest.get(producer, -1):
                add(REORDERED, f"{value} behind {newest[producer]}")
            newest[producer] = int(number)
        end, epoch = 0, -1
        for batch in log.batches:
            if batch.base_offset != end:
                add(GAP, f"{end} to {batch.base_offset}")
            if batch.epoch < epoch:
                add(EPOCH_FELL, f"{batch.base_offset}: {epoch} to {batch.epoch}")
            end, epoch = batch.last_offset + 1, batch.epoch
        return found


def _copies(value: str, log: Log) -> list[tuple[int, Batch]]:
    """With their offsets."""
    return [
        (one.offset, batch)
        for one in log.records
        if one.value == value
        for batch in log.batches
        if batch.base_offset <= one.offset <= batch.last_offset
    ]
