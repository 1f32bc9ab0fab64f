"""What compaction may remove of a log, and what it has to.

A record goes if a newer one of its key lies in front of the active segment, too; a tombstone also
after its delete horizon. Everything else stays as it was sent, at its offset.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from crc32c import crc32c

from domain.messages.batch import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    RecordBatch,
)
from domain.messages.message import Message
from tests.fakes.compaction import messages_of
from tests.simulation.disk import Replace
from tests.simulation.entries import LAST, Entry
from tests.simulation.timeline import Timeline

if TYPE_CHECKING:
    from tests.simulation.compaction import Compaction


class CompactedLog:
    def __init__(
        self,
        compaction: Compaction,
        timeline: Timeline,
        log: list[Entry],
        start: Callable[[], int],
        stable: Callable[[], int],
    ) -> None:
        """`start`: the log start offset; `stable`: the last stable one."""
        self._start = start
        self._stable = stable
        self._compaction = compaction
        self._timeline = timeline
        self._log = log
        #: Of the active segment: its first offset, and the timestamp of its first batch.
        self.segment_base = 0
        self._segment_ms = NO_TIMESTAMP
        self._offsets: dict[bytes | None, list[int]] = {}
        #: Epoch and last offset of each producer: of its newest batch, or of the marker of a newer
        #: epoch.
        self._last_of_producer: dict[int, tuple[int, int]] = {}
        #: As the newest snapshot has it.
        self.first_dirty = 0
        #: A pass has begun, and not ended yet.
        self.is_in_pass = False
        self.removed_records = self.removed_tombstones = 0
        self.removed_aborted = self.removed_markers = 0

    def appended(self, entry: Entry) -> None:
        batch = RecordBatch(memoryview(entry.data))
        age_ms = batch.max_timestamp - self._segment_ms
        if self._segment_ms == NO_TIMESTAMP or age_ms > self._compaction.segment_ms:
            self.segment_base, self._segment_ms = entry.base, batch.max_timestamp
        if entry.attempt is None and not entry.is_control:
            self._has_keys(entry)
        for one in entry.ends:
            if one.ended is not None and one.ended[1]:
                self._has_keys(one)
        if entry.producer != NO_PRODUCER_ID:
            epoch, _ = self._last_of_producer.get(entry.producer, (-1, 0))
            if not entry.is_control or batch.producer_epoch != epoch:
                self._last_of_producer[entry.producer] = batch.producer_epoch, entry.last

    def _has_keys(self, entry: Entry) -> None:
        """From then on its records count: those of transactions only when they are committed."""
        for message in _messages(entry):
            insort(self._offsets.setdefault(message.key, []), message.offset)

    @property
    def end(self) -> int:
        """Of what may be compacted."""
        return min(self.segment_base, self._stable())

    def replaced(self, change: Replace, commit: int) -> str:
        """Returns what is wrong; an empty text if nothing is."""
        self.is_in_pass = True
        new = {batch.base_offset: batch for batch in map(_batch, change.batches)}
        if list(new) != sorted(new):
            return "batches are out of order"
        first = bisect_left(self._log, change.first_offset, key=LAST)
        end = bisect_right(self._log, change.last_offset, key=LAST)
        for entry in self._log[first:end]:
            batch = new.pop(entry.base, None)
            data = b"" if batch is None else bytes(batch.buffer)
            if entry.data != data and entry.data:
                wrong = self._rewritten(entry, batch)
                if wrong:
                    return f"{entry.base}-{entry.last} {wrong}"
                times = () if batch is None else tuple(map(_time, messages_of(batch)))
                entry.becomes(commit, data, times)
        return f"there are no batches at {list(new)}" if new else ""

    def _rewritten(self, entry: Entry, batch: RecordBatch | None) -> str:
        """`batch`: None if it is removed."""
        before = _batch(entry.data)
        if entry.last >= self.end:
            return f"is in the active segment or unstable, from {self.end} on"
        if batch is None and self._last_of_producer.get(entry.producer, (0, -1))[1] == entry.last:
            return f"has the last sequence of producer {entry.producer}, and is removed"
        if batch is not None and not _has_same_header(before, batch):
            return "has another header"
        left = messages_of(batch) if batch is not None else []
        offsets = {message.offset for message in left}
        messages = messages_of(before)
        if left != [message for message in messages if message.offset in offsets]:
            return f"has other records: {left}, not of {messages}"
        for message in messages:
            if message.offset in offsets:
                continue
            self.removed_records += 1
            if not self._goes(entry, message, before.delete_horizon):
                return f"has lost {message!r}"
        horizon = batch.delete_horizon if batch is not None else None
        if horizon is not None and before.delete_horizon not in (None, horizon):
            return "has another delete horizon"
        earliest_ms = self._timeline.earliest_ms(entry.time_ms)
        if horizon is not None and horizon < earliest_ms + self._compaction.delete_retention_ms:
            return f"has a delete horizon at {horizon}"
        return ""

    def _goes(self, entry: Entry, message: Message, horizon: int | None) -> bool:
        if entry.is_control:
            self.removed_markers += 1
            has_passed = horizon is not None and horizon <= self._timeline.latest_ms()
            # Batches below the start may not be removed yet, and are not read any more.
            left = [one for one in entry.ends if one.last >= self._start()]
            return has_passed and not any(map(_messages, left))
        if entry.ended is not None and not entry.ended[1]:
            self.removed_aborted += 1
            return True
        return self._may_go(message, horizon)

    def _may_go(self, message: Message, horizon: int | None) -> bool:
        offsets = self._offsets[message.key]
        newer = bisect_right(offsets, message.offset)
        if newer < len(offsets) and offsets[newer] < self.end:
            return True
        if message.value is not None or horizon is None or horizon > self._timeline.latest_ms():
            return False
        self.removed_tombstones += 1
        start = self._start()
        below = [one for one in self._log if start <= one.last < message.offset and _counts(one)]
        return all(one.key != message.key for entry in below for one in _messages(entry))

    def snapshot(self, values: dict[str, Any]) -> str:
        """Checks that each key is there once below the first dirty offset."""
        first_dirty = values["cleaned"][0]
        if first_dirty < self.first_dirty:
            return f"the first dirty offset goes back from {self.first_dirty} to {first_dirty}"
        if first_dirty == self.first_dirty:
            return ""
        if first_dirty > self.end:
            return f"the active or unstable records from {self.end} on are clean"
        self.first_dirty, self.is_in_pass = first_dirty, False
        clean = [one for one in self._log if values["start"] <= one.last < first_dirty and one.data]
        aborted = [one for one in clean if one.ended is not None and not one.ended[1]]
        if any(_messages(one) for one in aborted):
            return f"aborted records are left below {first_dirty}"
        keys = [message.key for entry in clean if _counts(entry) for message in _messages(entry)]
        return "" if len(keys) == len(set(keys)) else f"{keys} are the keys below {first_dirty}"

    def is_dirty(self, start: int) -> bool:
        """Returns True if a pass is due."""
        return max(self.first_dirty, start) < self.end


def _batch(data: bytes) -> RecordBatch:
    return RecordBatch(memoryview(data))


def _messages(entry: Entry) -> list[Message]:
    return messages_of(_batch(entry.data)) if entry.data else []


def _counts(entry: Entry) -> bool:
    """Whether it may have records that hide older ones."""
    is_aborted = entry.ended is not None and not entry.ended[1]
    return bool(entry.data) and not entry.is_control and not is_aborted


def _time(message: Message) -> tuple[int, int]:
    return message.offset, message.timestamp


def _has_same_header(before: RecordBatch, batch: RecordBatch) -> bool:
    old, new = before.buffer, batch.buffer
    attributes = ~DELETE_HORIZON if batch.count else LOG_APPEND_TIME | TRANSACTIONAL | CONTROL
    latest = max((one.timestamp for one in messages_of(batch)), default=before.max_timestamp)
    return (
        old[12:17] == new[12:17]  # leader epoch, magic
        and old[23:27] == new[23:27]  # last offset
        and old[43:57] == new[43:57]  # producer
        and before.attributes & attributes == batch.attributes & attributes
        and batch.max_timestamp == latest
        and batch.crc == crc32c(new[21:])
    )
