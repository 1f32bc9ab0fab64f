"""Records what was sent to a partition and acknowledged, and compares it with the log later."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.e2e.raw_client import sealed_part

_HEADER = struct.Struct(">qiibIhiqqqhii")
NO_PRODUCER_ID = -1
#: In place of an offset: all records are deleted.
ALL = -1
#: Retention removes nothing.
NO_LIMIT = -1
_ANYWHERE = 1 << 62


class Broken(AssertionError):
    """A broken promise."""


class Batch:
    """One sent batch; `tries` is how often it was sent."""

    __slots__ = ("bytes", "count", "producer_id", "sealed", "sequence", "timestamp", "tries")

    def __init__(self, whole: bytes) -> None:
        header = _HEADER.unpack_from(whole)
        self.bytes = whole
        #: The part that no broker may change; unique for each batch.
        self.sealed = sealed_part(whole)
        self.timestamp: int = header[8]
        self.producer_id: int = header[9]
        self.sequence: int = header[11]
        self.count: int = header[12]
        self.tries = 0


class Found(NamedTuple):
    base_offset: int
    batch: Batch

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.batch.count


class PartitionLedger:
    def __init__(self, name: str, retention_bytes: int = NO_LIMIT) -> None:
        self.name = name
        self.retention_bytes = retention_bytes
        self.sent: dict[bytes, Batch] = {}
        self.acknowledged: dict[int, Batch] = {}
        #: Offsets at which a check or a consumer has read a batch.
        self.seen: dict[int, Batch] = {}
        self.next_offset_seen = 0
        self.places: dict[bytes, list[int]] = {}
        #: Bounds of the log start offset.
        self.start_acknowledged = self.start_requested = 0

    # ---- while the broker runs

    def sends(self, batch: Batch) -> None:
        batch.tries += 1
        self.sent[batch.sealed] = batch

    def acknowledges(self, batch: Batch, offset: int) -> None:
        if offset < 0:
            raise Broken(f"{self.name}: acknowledged at offset {offset}")
        other = self.acknowledged.setdefault(offset, batch)
        if other is not batch:
            raise Broken(f"{self.name}: two batches are acknowledged at offset {offset}")
        where = self.places.get(batch.sealed)
        if where and batch.producer_id != NO_PRODUCER_ID and where != [offset]:
            raise Broken(f"{self.name}: a retry of the batch at {where} gets offset {offset}")

    def sees(self, found: Iterable[tuple[int, bytes]]) -> list[Found]:
        """Checks fetched batches: they were sent, and agree with earlier reads."""
        known = [Found(offset, self._known(offset, raw)) for offset, raw in found]
        for offset, batch in known:
            if self.seen.setdefault(offset, batch) is not batch:
                raise Broken(f"{self.name}: offset {offset} has changed")
        return known

    def _known(self, offset: int, raw: bytes) -> Batch:
        batch = self.sent.get(sealed_part(raw))
        if batch is None:
            raise Broken(f"{self.name}: no client sent the batch at offset {offset}")
        return batch

    def deletion_requested(self, offset: int) -> None:
        self.start_requested = max(self.start_requested, _ANYWHERE if offset == ALL else offset)

    def deletes(self, start: int) -> None:
        self.start_acknowledged = max(self.start_acknowledged, start)

    # ---- after a restart

    def check(
        self, raw: Sequence[tuple[int, bytes]], high_watermark: int, start: int
    ) -> list[Found]:
        """Checks the whole log, from its start to the high watermark."""
        found = self.sees(raw)
        self._check_start(start, high_watermark, found)
        # The batch that contains the log start offset is there as a whole.
        expected = found[0].base_offset if found and found[0].base_offset < start else start
        for one in found:
            if one.base_offset != expected:
                raise Broken(f"{self.name}: offset {one.base_offset} follows {expected - 1}")
            expected = one.next_offset
        if expected != high_watermark:
            raise Broken(f"{self.name}: batches end at {expected}, watermark {high_watermark}")
        self._check_persisted(dict(found), high_watermark)
        self._check_numbers(found)
        self.places = {}
        for one in found:
            self.places.setdefault(one.batch.sealed, []).append(one.base_offset)
        return found

    def _check_start(self, start: int, high_watermark: int, found: Sequence[Found]) -> None:
        size_bytes = sum(len(one.batch.bytes) for one in found)
        may_expire = 0 <= self.retention_bytes <= size_bytes
        last = high_watermark if may_expire else min(self.start_requested, high_watermark)
        if not self.start_acknowledged <= start <= last:
            raise Broken(
                f"{self.name} starts at {start}, not within {self.start_acknowledged} and "
                f"{self.start_requested}"
            )
        self.start_acknowledged = self.start_requested = start
        for known in (self.acknowledged, self.seen):
            for offset in [one for one, batch in known.items() if one + batch.count <= start]:
                del known[offset]

    def _check_persisted(self, there: dict[int, Batch], high_watermark: int) -> None:
        for offset, batch in self.acknowledged.items():
            if there.get(offset) is not batch:
                raise Broken(f"{self.name}: the batch acknowledged at {offset} is lost")
        for offset, batch in self.seen.items():
            if there.get(offset) is not batch:
                raise Broken(f"{self.name}: the batch that was read at {offset} is lost")
        if high_watermark < self.next_offset_seen:
            raise Broken(
                f"{self.name}: the high watermark was {self.next_offset_seen}, is {high_watermark}"
            )
        self.next_offset_seen = high_watermark

    def _check_numbers(self, found: Sequence[Found]) -> None:
        """Idempotent batches are there once, in order; others at most as often as sent."""
        times = Counter(one.batch.sealed for one in found)
        next_sequence: dict[int, int] = {}
        for offset, batch in found:
            if batch.producer_id == NO_PRODUCER_ID:
                if times[batch.sealed] > batch.tries:
                    raise Broken(
                        f"{self.name}: sent {batch.tries} times, there {times[batch.sealed]} times"
                    )
                continue
            # Its first batches may have been deleted.
            first = batch.sequence if self.start_acknowledged else 0
            expected = next_sequence.get(batch.producer_id, first)
            if batch.sequence != expected:
                raise Broken(
                    f"{self.name}: producer {batch.producer_id} has sequence {batch.sequence} at "
                    f"offset {offset}, after {expected - 1}"
                )
            next_sequence[batch.producer_id] = expected + batch.count


Part = tuple[PartitionLedger, Batch]


class Stream:
    """The requests of one connection, sent once each: a prefix of them persists."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.requests: list[list[Part]] = []

    def check(self) -> None:
        """Checked after the ledgers: whole requests, and none without those before it."""
        gap: int | None = None
        for number, parts in enumerate(self.requests):
            persisted = [batch.sealed in ledger.places for ledger, batch in parts]
            if any(persisted) and not all(persisted):
                raise Broken(f"{self.name}: request {number} is persisted in parts: {persisted}")
            if not all(persisted) and gap is None:
                gap = number
            elif all(persisted) and gap is not None:
                raise Broken(f"{self.name}: request {number} is persisted, {gap} before it is not")
