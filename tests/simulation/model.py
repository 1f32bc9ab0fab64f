"""The model: every committed batch, and the responses that it allows.

Commits are numbered. Each response is checked with two numbers: everything committed when the
request was sent (`first`) has to show, nothing committed after the response was written
(`last`) may show.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import partial

from domain.messages.batch import CONTROL, LOG_APPEND_TIME, RecordBatch, advance_sequence
from tests.simulation.committed import Committed
from tests.simulation.compacted import CompactedLog
from tests.simulation.compaction import Compaction
from tests.simulation.disk import Append, Change, Disk, Drop, Replace, Row, Trim
from tests.simulation.entries import Entry, Sent, check_read
from tests.simulation.incarnation import Incarnation
from tests.simulation.internal_topics import OffsetsTopicLog
from tests.simulation.limits import Limits
from tests.simulation.starts import Starts
from tests.simulation.timeline import Timeline
from tests.simulation.transaction_model import TransactionModel


class Violation(AssertionError):
    """The broker broke a promise."""


class Model:
    def __init__(
        self, disk: Disk, timeline: Timeline, limits: Limits, compaction: Compaction
    ) -> None:
        self._disk = disk
        self._timeline = timeline
        self.compaction = compaction
        #: By partition id, like `history`.
        self.compacted: dict[int, CompactedLog] = {}
        self.offsets_topic = OffsetsTopicLog(Violation, self._is_live)
        self.committed = Committed(self, timeline.now_ms, Violation)
        self.transactions = TransactionModel(self, timeline, Violation)
        self.starts = Starts(self, limits, timeline.latest_ms, Violation)
        #: Every batch, by its bytes from the producer id on: a new id may send the same records.
        self._sent: dict[bytes, Sent] = {}
        self._last_stamp: dict[int, int] = {}
        self.history: dict[int, list[Entry]] = {}
        self._commits: dict[int, list[int]] = {}
        self._places: dict[str, list[tuple[int, int, Entry]]] = {}
        self._last_sequence: dict[tuple[int, int, int], int] = {}
        self.incarnations: dict[str, list[Incarnation]] = {}
        self._by_id: dict[bytes, Incarnation] = {}
        self._doomed: set[int] = set()
        self.producer_ids: set[int] = set()
        self._owners: dict[int, str] = {}
        self.acknowledged = 0

    # ---- requests

    def sends(self, data: bytes, values: tuple[str, ...], times: tuple[int, ...]) -> None:
        self._sent[data[43:]] = Sent(data, values, times)

    # ---- commits

    def persisted(self, changes: list[Change], now_ms: int) -> None:
        changes = self.offsets_topic.persisted(changes)
        for change in changes:
            if isinstance(change, Append):
                self._appended(change, now_ms)
            elif isinstance(change, Replace):
                self._replaced(change)
            elif isinstance(change, Trim):
                self.starts.trimmed(change, self._disk.commits)
            elif isinstance(change, Drop):
                if change.count and change.partition_id not in self._doomed:
                    raise Violation(f"data of partition {change.partition_id} was dropped")
            else:
                self._row(change)
        for change in changes:
            if isinstance(change, Row) and change.table == "offsets":
                self.committed.persisted(change, self._disk.commits)
        self.transactions.persisted()

    def _appended(self, change: Append, now_ms: int) -> None:
        partition_id, data = change.partition_id, change.batch
        batch = RecordBatch(memoryview(data))
        sent = self._sent_as(batch, data)
        self._check_stamp(partition_id, batch)
        values = sent.values
        history = self.history.setdefault(partition_id, [])
        expected = history[-1].last + 1 if history else 0
        if batch.base_offset != expected or change.last_offset != batch.last_offset:
            raise Violation(
                f"partition {partition_id} ends at {expected}, and {values} was committed at "
                f"{batch.base_offset}-{change.last_offset}"
            )
        entry = Entry(batch, values, sent.times, self._disk.commits, now_ms)
        if not entry.is_control:
            self._check_sequence(partition_id, batch, values)
        history.append(entry)
        self._commits.setdefault(partition_id, []).append(entry.commit)
        self.transactions.appended(partition_id, entry, batch)
        if partition_id in self.compacted:
            self.compacted[partition_id].appended(entry)
        for delta, value in enumerate(values):
            self._places.setdefault(value, []).append((partition_id, entry.base + delta, entry))

    def _sent_as(self, batch: RecordBatch, data: bytes) -> Sent:
        if batch.attributes & CONTROL:  # the broker writes it
            return Sent(data, (), (batch.max_timestamp,))
        sent = self._sent.get(data[43:])
        if sent is None:
            raise Violation("a batch was stored that no client sent")
        if not sent.has_header_of(batch, data):
            raise Violation(f"{sent.values} was stored with another header")
        return sent

    def _replaced(self, change: Replace) -> None:
        log = self.compacted.get(change.partition_id)
        wrong = log.replaced(change, self._disk.commits) if log else "it is not compacted"
        if wrong:
            raise Violation(f"compaction of partition {change.partition_id}: {wrong}")

    def _check_stamp(self, partition_id: int, batch: RecordBatch) -> None:
        if batch.attributes & LOG_APPEND_TIME:
            before = self._last_stamp.get(partition_id, 0)
            if batch.max_timestamp < before:
                raise Violation(f"the log append time of partition {partition_id} goes back")
            self._last_stamp[partition_id] = batch.max_timestamp

    def _check_sequence(
        self, partition_id: int, batch: RecordBatch, values: tuple[str, ...]
    ) -> None:
        if batch.producer_id < 0:
            return
        key = (partition_id, batch.producer_id, batch.producer_epoch)
        last = self._last_sequence.get(key)
        if last is not None and batch.base_sequence != advance_sequence(last, 1):
            raise Violation(
                f"partition {partition_id}: {values} of producer {batch.producer_id} has sequence "
                f"{batch.base_sequence} and stands behind {last}: lost, doubled or out of order"
            )
        self._last_sequence[key] = batch.last_sequence

    def _row(self, row: Row) -> None:
        if row.table == "doomed" and row.value is not None:
            self._doomed.add(int.from_bytes(row.key, "big"))
        self.transactions.row(row)
        if row.table == "partitions":
            self._snapshot(row)
        if row.table != "topics":
            return
        name = row.key.decode()
        known = self.incarnations.setdefault(name, [])
        now = self._disk.commits
        if row.value is None:
            known[-1].dead = now
            return
        values = json.loads(row.value)
        topic_id = bytes.fromhex(values["id"])
        topic = self._by_id.get(topic_id)
        if topic is None:
            if known and known[-1].dead is None:
                raise Violation(f"topic {name} was created while it existed")
            topic = self._by_id[topic_id] = Incarnation(name, topic_id, now)
            known.append(topic)
        for partition_id in values["partitions"][len(topic.partition_ids) :]:
            if self.history.get(partition_id) or partition_id in self._doomed:
                raise Violation(f"store id {partition_id} was assigned twice")
            topic.partition_ids.append(partition_id)
            topic.since.append(now)
            if name in self.compaction.policies:
                self.compacted[partition_id] = CompactedLog(
                    self.compaction, self._timeline, self.history.setdefault(partition_id, []),
                    partial(self.starts.at, partition_id),
                    partial(self.transactions.stable, partition_id),
                )  # fmt: skip

    def _snapshot(self, row: Row) -> None:
        if row.value is None:
            return
        partition_id, values = int.from_bytes(row.key, "big"), json.loads(row.value)
        self.starts.persisted(partition_id, values["start"], self._disk.commits)
        log = self.compacted.get(partition_id)
        wrong = log.snapshot(values) if log else ""
        if wrong:
            raise Violation(f"compaction of partition {partition_id}: {wrong}")

    # ---- state

    @property
    def commit(self) -> int:
        return self._disk.commits

    def live(self) -> list[Incarnation]:
        found = (known[-1] for known in self.incarnations.values() if known)
        return [topic for topic in found if topic.dead is None]

    def _is_live(self, topic_id: bytes) -> bool:
        topic = self._by_id.get(topic_id)
        return topic is not None and topic.dead is None

    def times_deleted(self, name: str, commit: int) -> int:
        known = self.incarnations.get(name, ())
        return sum(topic.dead is not None and topic.dead <= commit for topic in known)

    def end(self, partition_id: int, commit: int) -> int:
        """The log end offset after a commit."""
        count = bisect_right(self._commits.get(partition_id, []), commit)
        return self.history[partition_id][count - 1].last + 1 if count else 0

    def is_stored(self, values: tuple[str, ...]) -> bool:
        return values[0] in self._places

    def _candidates(self, topic: str | bytes, index: int) -> list[int]:
        """The store ids of the partition; several if the topic was recreated."""
        named = self._named(topic)
        return [one.partition_ids[index] for one in named if index < len(one.partition_ids)]

    def _named(self, topic: str | bytes) -> list[Incarnation]:
        if isinstance(topic, bytes):
            return [self._by_id[topic]] if topic in self._by_id else []
        return self.incarnations.get(topic, [])

    # ---- responses

    def acked(
        self, topic: str | bytes, index: int, offset: int, values: tuple[str, ...], last: int
    ) -> None:
        candidates = self._candidates(topic, index)
        for partition_id, place, entry in self._places.get(values[0], ()):
            if partition_id in candidates and place == offset and entry.commit <= last:
                self.acknowledged += len(values)
                return
        places = [(p, o, e.commit) for p, o, e in self._places.get(values[0], ())]
        raise Violation(
            f"{values} was acknowledged at {offset} of {topic!r}-{index} after commit {last}, "
            f"but is at (partition, offset, commit) {places}"
        )

    def refused_as_unknown(self, topic: str | bytes, index: int, first: int, last: int) -> None:
        if any(one.had(index, first, last) for one in self._named(topic)):
            raise Violation(f"{topic!r}-{index} exists, and is refused as unknown")

    def described(self, name: str, topic_id: bytes, partitions: int, first: int, last: int) -> None:
        """Checks a topic of a Metadata response."""
        topic = self._by_id.get(topic_id)
        if topic is None or topic.name != name or topic.born > last:
            raise Violation(f"there is no topic {name} with that id")
        if topic.dead is not None and topic.dead <= first:
            raise Violation(f"topic {name} is deleted, and is described")
        least = sum(since <= first for since in topic.since)
        most = sum(since <= last for since in topic.since)
        if not least <= partitions <= most:
            raise Violation(
                f"topic {name} has {partitions} partitions in the response, not {least}-{most}"
            )

    def check_end(self, topic: str | bytes, index: int, end: int, first: int, last: int) -> None:
        """Checks a high watermark of any response."""
        bounds = []
        for partition_id in self._candidates(topic, index):
            least, most = self.end(partition_id, first), self.end(partition_id, last)
            if least <= end <= most:
                return
            bounds.append((least, most))
        raise Violation(
            f"{topic!r}-{index} ends at {end} in the response; possible are {bounds} "
            f"(requested at commit {first}, responded at {last})"
        )

    def found_by_time(
        self, topic: str | bytes, index: int, timestamp: int, found: tuple[int, int] | None,
        first: int, last: int,
    ) -> None:  # fmt: skip
        """Checks a ListOffsets response."""
        possible = [
            one
            for partition_id in self._candidates(topic, index)
            for one in self.starts.possible_by_time(partition_id, timestamp, first, last)
        ]
        if found in possible:
            return
        raise Violation(
            f"{topic!r}-{index} at {timestamp}: {found} was found, not one of {possible}"
        )

    def dirty(self) -> list[int]:
        """Returns the partitions that compaction has not finished."""
        ids = {one for topic in self.live() for one in topic.partition_ids}
        start = partial(self.starts.at, commit=self._disk.commits)
        logs = ((one, self.compacted[one]) for one in ids & self.compacted.keys())
        return [one for one, log in logs if log.is_dirty(start(one))]

    def times_known(self, topic: str, index: int) -> list[int]:
        ids = self._candidates(topic, index)
        #: Of a compacted log those that are left.
        form = -1 if self.compacted.keys() & ids else 0
        logs = (self.history.get(one, ()) for one in ids)
        return [at for log in logs for entry in log for _, at in entry.forms[form].times]

    def fetched(
        self, topic: str | bytes, index: int, position: int, end: int, records: bytes,
        first: int, last: int,
    ) -> list[Entry]:  # fmt: skip
        """Checks fetched batches, byte by byte; they are below `end`."""
        reason = "there is no such partition"
        for partition_id in self._candidates(topic, index):
            log = self.history.get(partition_id, ())
            entries, reason = check_read(log, position, end, records, first, last)
            if not reason:
                return entries
        raise Violation(f"fetched from {topic!r}-{index} at {position}: {reason}")

    def overdue(self, topic: str | bytes, index: int, position: int, before_ms: int) -> bool:
        """Returns True if there were records to read before that time."""
        candidates = self._candidates(topic, index)
        return bool(candidates) and all(
            any(e.last >= position and e.time_ms < before_ms for e in self.history.get(p, ()))
            for p in candidates
        )

    def check_producer_id(self, producer_id: int) -> None:
        if producer_id in self.producer_ids:
            raise Violation(f"producer id {producer_id} was assigned twice")
        self.producer_ids.add(producer_id)

    def check_producer_of(self, producer_id: int, transactional_id: str) -> None:
        """A transactional id has its producer ids alone."""
        if self._owners.setdefault(producer_id, transactional_id) != transactional_id:
            raise Violation(f"producer id {producer_id} was assigned to {transactional_id}, too")
        self.producer_ids.add(producer_id)

    def had_more(self, topic: str | bytes, index: int, position: int, first: int) -> bool:
        """Returns True if there were records to read at that commit."""
        candidates = self._candidates(topic, index)
        return bool(candidates) and all(
            self.end(one, first) > position and one not in self._doomed for one in candidates
        )

    def is_read(self, positions: dict[tuple[str | bytes, int], int]) -> bool:
        for topic in self.live():
            for index, partition_id in enumerate(topic.partition_ids):
                at = positions.get((topic.topic_id, index), positions.get((topic.name, index)))
                if at is None or at < self.end(partition_id, self._disk.commits):
                    return False
        return True

    def check_disk(self) -> None:
        """Checks that all committed batches of topics are stored, byte for byte, and no others."""
        topics = map(json.loads, self._disk.tables.get("topics", {}).values())
        there = {one for topic in topics for one in topic["partitions"]}
        if strays := self._disk.logs.keys() - there:
            raise Violation(f"batches of the deleted partitions {strays} are left")
        for topic in self.live():
            for partition_id in topic.partition_ids:
                log = self._disk.logs.get(partition_id)
                stored = log.batches if log else []
                self.starts.check_stored(partition_id, self._disk.commits, stored)

    def was_there(self, name: str, first: int, last: int) -> set[bool]:
        """Returns whether the topic existed, at each commit between the two."""
        moments = {first, last}
        for topic in self.incarnations.get(name, ()):
            moments.update(at for at in (topic.born, topic.dead) if at and first <= at <= last)
        return {self._there_at(name, moment) for moment in moments}

    def grown(self, name: str, count: int, first: int, last: int) -> None:
        """Checks a successful CreatePartitions: the partitions exist, or existed."""
        if not any(
            sum(since <= last for since in topic.since) >= count
            and (topic.dead is None or topic.dead > first)
            for topic in self.incarnations.get(name, ())
        ):
            raise Violation(f"{name} does not have {count} partitions")

    def _there_at(self, name: str, moment: int) -> bool:
        return any(
            topic.born <= moment and (topic.dead is None or topic.dead > moment)
            for topic in self.incarnations.get(name, ())
        )
