"""The model of transactions: what every commit makes of them, in their partitions and groups.

- a batch is in the open transaction of its producer's epoch; an end has a reason
- markers, offsets and the end are alike, and in one commit; nothing stays open after it
- the last stable offset is the first offset of the oldest open transaction
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from domain.messages.batch import CONTROL, TRANSACTIONAL, RecordBatch
from domain.messages.control import read_end_marker
from domain.transactions.transaction import Transaction
from infrastructure.storage.repositories import (
    numbered_offsets,
    transaction_index,
    transaction_repository,
)
from infrastructure.storage.repositories.partition_rows import KEY
from tests.simulation.attempts import Attempt, Attempts, Key
from tests.simulation.disk import Row
from tests.simulation.entries import Entry
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulation.model import Model
    from tests.simulation.timeline import Timeline

Name = str | bytes


class TransactionModel:
    def __init__(self, model: Model, timeline: Timeline, violation: type[Exception]) -> None:
        self._model = model
        self._timeline = timeline
        self._violation = violation
        self.attempts = Attempts(timeline, violation)
        self.count: Callable[[Situation], None] = lambda situation: None
        #: As the store has them, by key.
        self._rows: dict[bytes, Transaction] = {}
        self._by_id: dict[str, Transaction] = {}
        #: By partition id and producer id: the batches of open transactions.
        self._open: dict[int, dict[int, list[Entry]]] = {}
        #: By producer id and row key: offsets that are not committed yet.
        self._pending: dict[tuple[int, bytes], tuple[Key, int]] = {}
        self._was_pending: dict[tuple[Key, int], int] = {}
        #: Of each partition: commit, last stable offset, time.
        self._stable: dict[int, list[tuple[int, int, int]]] = {}
        #: Of each partition with offsets: commit, and whether one is pending.
        self._unstable: dict[Key, list[tuple[int, bool]]] = {}
        # ---- of the commit that is applied
        self._marked: list[tuple[Entry, bool]] = []
        self._ended: set[str] = set()
        self._committed: list[tuple[Key, int]] = []
        self._touched: set[int] = set()
        self._touched_offsets: set[Key] = set()

    # ---- a commit, change by change

    def appended(self, partition_id: int, entry: Entry, batch: RecordBatch) -> None:
        self._touched.add(partition_id)
        if not batch.attributes & TRANSACTIONAL:
            return
        opened = self._open.setdefault(partition_id, {})
        if batch.attributes & CONTROL:
            self._marker(entry, batch, opened.pop(batch.producer_id, []))
            return
        attempt = entry.attempt = self.attempts.of_batch(entry.values[0])
        if attempt is None:
            raise self._violation(f"{entry.values} was stored as transactional")
        self._check_open(attempt, partition_id, entry, batch)
        entries = opened.setdefault(batch.producer_id, [])
        if entries and entries[-1].attempt is not attempt:
            raise self._violation(f"{attempt} begins before {entries[-1].attempt} has ended")
        entries.append(entry)

    def _check_open(
        self, attempt: Attempt, partition_id: int, entry: Entry, batch: RecordBatch
    ) -> None:
        row = self._by_id.get(attempt.transactional_id)
        is_current = row is not None and self._model.starts.name_of(partition_id) in row.partitions
        if attempt.decision is None:
            producer = batch.producer_id, batch.producer_epoch
            is_current = is_current and row is not None and row.is_open and row.producer == producer
        else:  # it is aborted, and this partition has no marker yet, as in Kafka
            is_current = is_current and not attempt.decision and attempt.completed is None
        if not is_current:
            raise self._violation(f"{entry.values} of {attempt} was stored, and the row is {row}")

    def _marker(self, entry: Entry, batch: RecordBatch, ended: list[Entry]) -> None:
        marker = read_end_marker(batch)
        if marker is None:
            raise self._violation(f"the control batch at {entry.base} is no marker")
        entry.ends = ended
        commit = entry.commit
        for one in ended:
            one.ended = commit, marker.committed
            self._marked.append((one, marker.committed))

    def row(self, row: Row) -> None:
        if row.table == "transactions":
            self._transaction(row)
        elif row.table == "pending_offsets":
            self._pending_offset(row)

    def offset_persisted(self, key: Key, offset: int) -> None:
        self._committed.append((key, offset))

    def _transaction(self, row: Row) -> None:
        before = self._rows.pop(row.key, None)
        if row.value is None:
            if before is None:
                return
            if before.is_open or before.is_prepared:
                raise self._violation(f"{before} was removed")
            del self._by_id[before.transactional_id]
            self.count(Situation.TRANSACTIONAL_ID_EXPIRED)
            return
        after = transaction_repository._decode(row.value)
        self._rows[row.key] = self._by_id[after.transactional_id] = after
        if before is not None and before.is_open and not after.is_open:
            self._decided(before, after)
        if before is not None and not after.is_open and not after.is_prepared:
            self._ended.add(after.transactional_id)

    def _decided(self, before: Transaction, after: Transaction) -> None:
        if after.is_prepared:
            self.count(Situation.PREPARED)
        attempt = self.attempts.undecided(before.transactional_id, before.producer)
        if attempt is None:
            if after.is_committed:
                raise self._violation(f"{before} is committed, which no client began")
            return
        attempt.decision, attempt.decided = after.is_committed, self._commit
        self.attempts.check_decision(attempt, lambda value: self._model.is_stored((value,)))
        if not after.is_committed and False not in attempt.requested:
            timed_out = not attempt.may_be_fenced
            self.count(Situation.TIMED_OUT if timed_out else Situation.ABORTED_BY_A_NEW_PRODUCER)

    def _pending_offset(self, row: Row) -> None:
        place = int.from_bytes(row.key[:8], "big"), row.key
        before = self._pending.pop(place, None)
        if before is not None:
            self._touched_offsets.add(before[0])
        if row.value is not None:
            _, offset_row = numbered_offsets._numbered(row.key, row.value)
            found, committed = offset_row[:3], offset_row[3]
            self._pending[place] = found, committed.offset
            self._touched_offsets.add(found)
            attempt = self.attempts.of_offset(found, committed.offset)
            if attempt is None or attempt.decision is not None:
                raise self._violation(f"{found}: {committed} is pending for {attempt}")
            self._was_pending.setdefault((found, committed.offset), self._commit)

    @property
    def _commit(self) -> int:
        return self._model.commit

    # ---- a commit, when it is whole

    def persisted(self) -> None:
        for entry, committed in self._marked:
            attempt = entry.attempt
            if attempt is None or attempt.decision is not committed:
                raise self._violation(
                    f"{attempt} has {committed} in a marker, and {attempt and attempt.decision}"
                )
        for transactional_id in self._ended:
            for attempt in self.attempts.incomplete(transactional_id):
                self._complete(attempt)
        for key, offset in self._committed:
            attempt = self.attempts.of_offset(key, offset)
            if attempt is not None and not (attempt.decision and attempt.completed == self._commit):
                raise self._violation(f"{key}: {offset} of {attempt} is committed")
        for partition_id in self._touched:
            self._move(partition_id)
        for key in self._touched_offsets:
            is_pending = any(one == key for one, _ in self._pending.values())
            self._unstable.setdefault(key, []).append((self._commit, is_pending))
        for one in (self._marked, self._ended, self._committed):
            one.clear()
        self._touched.clear()
        self._touched_offsets.clear()

    def _complete(self, attempt: Attempt) -> None:
        """All its partitions and offsets are as it was decided, after this commit."""
        attempt.completed = self._commit
        for partition_id, opened in self._open.items():
            for entries in opened.values():
                if entries and entries[0].attempt is attempt and self._lives(partition_id):
                    raise self._violation(f"{attempt} has ended, but not in {partition_id}")
        left = [one for one in self._pending.values() if self.attempts.of_offset(*one) is attempt]
        if left:
            raise self._violation(f"{attempt} has ended, and {left} are pending")
        if not attempt.decision:
            return
        for key, (offset, deletions) in attempt.offsets.items():
            value = self._model.committed.newest(key)
            if self._model.times_deleted(key[1], self._commit) == deletions and value != offset:
                raise self._violation(f"{attempt} has committed {key} at {offset}, not {value}")
        if attempt.offsets:
            self.count(Situation.OFFSETS_IN_TRANSACTION)

    def _move(self, partition_id: int) -> None:
        opened = self._open.get(partition_id, {})
        firsts = [entries[0].base for entries in opened.values() if entries]
        stable = min(firsts, default=self._model.end(partition_id, self._commit))
        moves = self._stable.setdefault(partition_id, [])
        moves.append((self._commit, stable, self._timeline.now))

    def _lives(self, partition_id: int) -> bool:
        return any(partition_id in topic.partition_ids for topic in self._model.live())

    # ---- state

    def stable(self, partition_id: int, commit: int | None = None) -> int:
        """The last stable offset after a commit, by default the last one."""
        moves = self._stable.get(partition_id, [])
        last = self._commit if commit is None else commit
        count = bisect_right(moves, (last, 1 << 62, 0))
        return moves[count - 1][1] if count else 0

    def _between(self, partition_id: int, first: int, last: int) -> Iterator[int]:
        """The possible last stable offsets: not below the log start offset."""
        moves = self._stable.get(partition_id, ())
        stables = [self.stable(partition_id, first)]
        stables += [stable for commit, stable, _ in moves if first < commit <= last]
        for start in self._model.starts.between(partition_id, first, last):
            yield from (max(one, start) for one in stables)

    def unfinished(self) -> list[object]:
        rows = [one for one in self._by_id.values() if one.is_open or one.is_prepared]
        return [*rows, *self._pending.values()]

    def check_index(self, rows: dict[bytes, bytes]) -> None:
        """Checks that the transaction index has every abort marker that is left, and no other."""
        expected = {}
        for topic in self._model.live():
            for partition_id in topic.partition_ids:
                start = self._model.starts.at(partition_id, self._commit)
                for one in self._model.history.get(partition_id, ()):
                    is_there = one.last >= start and bool(one.data) and _batch(one).count > 0
                    if one.is_control and one.ends and is_there and not _commits(one):
                        expected[KEY.pack(partition_id, one.last)] = one.producer, one.ends[0].base
        found = {key: transaction_index._ENTRY.unpack(row)[:2] for key, row in rows.items()}
        if found != expected:
            raise self._violation(f"the transaction index is {found}, and not {expected}")

    def prepared(self) -> list[str]:
        return [one.transactional_id for one in self._by_id.values() if one.is_prepared]

    def find_row(self, transactional_id: str) -> Transaction | None:
        return self._by_id.get(transactional_id)

    # ---- responses

    def ended(self, attempt: Attempt, committed: bool, last: int) -> None:
        """Checks a successful EndTxn."""
        if attempt.decision is committed and attempt.decided <= last:
            return
        if committed or attempt.decision or self._is_open(attempt):
            raise self._violation(
                f"{attempt} ended with {committed} after commit {last}: it is {attempt.decision} "
                f"since {attempt.decided}"
            )

    def _is_open(self, attempt: Attempt) -> bool:
        row = self._by_id.get(attempt.transactional_id)
        return row is not None and row.is_open and row.producer == attempt.producer

    def offset_acked(self, key: Key, offset: int, last: int) -> None:
        """Checks a successful TxnOffsetCommit."""
        if self._was_pending.get((key, offset), last + 1) > last:
            raise self._violation(f"{key}: {offset} was acknowledged, and is not durable")

    def check_stable(self, topic: Name, index: int, stable: int, first: int, last: int) -> None:
        candidates = self._model._candidates(topic, index)
        possible = {one for p in candidates for one in self._between(p, first, last)}
        if stable not in possible:
            raise self._violation(
                f"{topic!r}-{index} has the last stable offset {stable} in the response; possible "
                f"are {possible} (requested at commit {first}, responded at {last})"
            )

    def check_unstable(self, key: Key, is_unstable: bool, first: int, last: int) -> None:
        """Checks UNSTABLE_OFFSET_COMMIT, or its absence."""
        if is_unstable:
            well = self.attempts.has_offset(key, first)
        else:
            moves = self._unstable.get(key, [])
            before = bisect_right(moves, (first, True))
            was_pending = before > 0 and moves[before - 1][1]
            well = not was_pending or any(
                not pending for commit, pending in moves if first < commit <= last
            )
        if not well:
            raise self._violation(f"{key} is {'un' if is_unstable else ''}stable in the response")

    def had_more(self, topic: Name, index: int, position: int, first: int) -> bool:
        """Returns True if a READ_COMMITTED consumer had records to read at that commit."""
        candidates = self._model._candidates(topic, index)
        return self._model.had_more(topic, index, position, first) and all(
            self.stable(one, first) > position for one in candidates
        )

    def overdue(self, topic: Name, index: int, position: int, before_ms: int) -> bool:
        candidates = self._model._candidates(topic, index)
        return bool(candidates) and all(
            any(stable > position and at < before_ms for _, stable, at in self._stable.get(p, ()))
            for p in candidates
        )


def _batch(entry: Entry) -> RecordBatch:
    return RecordBatch(memoryview(entry.data))


def _commits(marker: Entry) -> bool:
    ended = marker.ends[0].ended
    return ended is not None and ended[1]
