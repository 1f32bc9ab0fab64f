"""Compares what the copiers reported, the log, and what a READ_COMMITTED consumer has read."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from domain.messages.batch import batches_in
from tests.fakes.compaction import messages_of

CONTROL, TRANSACTIONAL = 0x20, 0x10
COMMIT = 1


class Copy(NamedTuple):
    offset: int
    source: int
    source_offset: int
    transaction: str

    @classmethod
    def of(cls, offset: int, value: bytes | None) -> Copy:
        source, source_offset, transaction = (value or b"").decode().split()
        return cls(offset, int(source), int(source_offset), transaction)


@dataclass
class TargetPartition:
    log: Sequence[bytes] = ()
    high_watermark: int = 0
    last_stable_offset: int = 0
    #: What a READ_COMMITTED consumer has read from the start, during all deaths.
    consumed: Sequence[Copy] = ()


@dataclass
class History:
    #: By transaction: whether it is committed. Ends that are not confirmed are missing.
    confirmed: Mapping[str, bool]
    #: The end of each source partition.
    ends: Mapping[int, int]
    targets: Sequence[TargetPartition]
    problems: list[str] = field(default_factory=list)

    def check(self) -> list[str]:
        """The problems, each with its name in front."""
        copies: dict[tuple[int, int], list[str]] = defaultdict(list)
        committed: set[str] = set()
        for number, target in enumerate(self.targets):
            visible = self._check_log(number, target)
            self._check_consumer(number, target.consumed, visible)
            self._check_order(number, visible)
            for copy in visible:
                copies[copy.source, copy.source_offset].append(copy.transaction)
                committed.add(copy.transaction)
        for name in committed:
            if self.confirmed.get(name) is False:
                self._add("aborted read", f"{name} was aborted")
        for name in {name for name, kept in self.confirmed.items() if kept} - committed:
            self._add("lost write", f"{name} was committed")
        for place in ((one, at) for one, end in self.ends.items() for at in range(end)):
            if not copies[place]:
                self._add("lost write", f"record {place} has no copy")
            elif len(copies[place]) > 1:
                self._add("duplicate", f"record {place} has copies of {copies[place]}")
        return self.problems

    def _add(self, name: str, what: str) -> None:
        self.problems.append(f"{name}: {what}")

    def _check_log(self, number: int, target: TargetPartition) -> list[Copy]:
        """The copies of committed transactions, by the markers of the log."""
        opened: dict[int, list[Copy]] = defaultdict(list)
        visible: list[Copy] = []
        next_offset = 0
        for batch in batches_in(b"".join(target.log)):
            if batch.base_offset != next_offset:
                missing = f"{next_offset} to {batch.base_offset} of {number}"
                self._add("unexplained offset gap", missing)
            next_offset = batch.last_offset + 1
            attributes = struct.unpack_from(">h", batch.buffer, 21)[0]
            records = list(messages_of(batch))
            if attributes & CONTROL:
                ended = opened.pop(batch.producer_id, [])
                if struct.unpack(">hh", records[0].key or b"")[1] == COMMIT:
                    visible += ended
            elif attributes & TRANSACTIONAL:
                copies = (Copy.of(one.offset, one.value) for one in records)
                opened[batch.producer_id] += copies
        if next_offset != target.high_watermark:
            self._add("lost write", f"the log of {number} ends at {next_offset}")
        for producer_id in opened:
            self._add("hanging transaction", f"producer id {producer_id} in {number}")
        if target.last_stable_offset != target.high_watermark:
            ends = f"{target.last_stable_offset} of {target.high_watermark} in {number}"
            self._add("LSO below the end", ends)
        return sorted(visible)

    def _check_consumer(self, number: int, read: Sequence[Copy], visible: Sequence[Copy]) -> None:
        offsets = [copy.offset for copy in read]
        if offsets != sorted(set(offsets)):
            self._add("non-monotonic read", f"offsets {list(_descents(offsets))} of {number}")
        for copy in set(read).difference(visible):
            self._add("aborted read", f"{copy} of {number} was read, and is not committed")
        for copy in set(visible).difference(read):
            self._add("lost write", f"{copy} of {number} is committed, and was not read")

    def _check_order(self, number: int, visible: Iterable[Copy]) -> None:
        by_source: dict[int, list[int]] = defaultdict(list)
        for copy in visible:
            by_source[copy.source].append(copy.source_offset)
        for source, offsets in by_source.items():
            if found := list(_descents(offsets)):
                self._add("non-monotonic read", f"copies {found} of {source} in {number}")


def _descents(offsets: Sequence[int]) -> Iterator[tuple[int, int]]:
    return ((one, later) for one, later in pairwise(offsets) if later < one)
