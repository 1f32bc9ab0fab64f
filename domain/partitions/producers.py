"""Producers: what a partition remembers of idempotent producers, to tell a retry from a gap.

Of each producer id: its epoch and its last five batches, as Kafka keeps them (a client has at
most five requests in flight). A producer id that is not known is accepted at any sequence: its
state may have expired, which the client cannot know. The one exception: when all that is known of
a producer was lost with a failed commit, what it had pipelined behind that must not be taken first.

There may be a hundred thousand of them, so what has to be done for all at once is as good as
nothing: a snapshot takes those that changed since the one before, and a restart none. One that is
not in memory is looked up in what snapshots have kept, when its first batch comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from domain.errors import InvalidProducerEpoch, OutOfOrderSequence
from domain.messages.batch import MAX_SEQUENCE, NO_TIMESTAMP, RecordBatch, advance_sequence

BATCHES_REMEMBERED = 5


class AppendedBatch:
    """A batch of a producer that is in the log."""

    __slots__ = ("base_offset", "first_sequence", "last_offset", "last_sequence", "timestamp")

    def __init__(
        self,
        first_sequence: int,
        last_sequence: int,
        base_offset: int,
        last_offset: int,
        timestamp: int,
    ) -> None:
        self.first_sequence = first_sequence
        self.last_sequence = last_sequence
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.timestamp = timestamp


class ProducerState:
    __slots__ = ("batches", "epoch", "last_timestamp", "producer_id")

    def __init__(self, producer_id: int, epoch: int, last_timestamp: int) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_timestamp = last_timestamp
        self.batches: list[AppendedBatch] = []


#: What snapshots have kept of a producer, by its id.
LookUp = Callable[[int], ProducerState | None]


def no_snapshot(producer_id: int) -> None:
    return None


class Producers:
    __slots__ = ("_awaited", "_by_id", "_changed", "_expired_before", "_in_snapshot", "_look_up")

    def __init__(self, before: Producers | None = None, look_up: LookUp = no_snapshot) -> None:
        """`before`: what was remembered until a failed commit made the partition start again."""
        self._by_id: dict[int, ProducerState] = {}
        self._look_up = look_up
        #: Since the last snapshot, and in that one, whose commit may still fail.
        self._changed: set[int] = set()
        self._in_snapshot: set[int] = set()
        #: Who has appended nothing since then is not known, whatever a snapshot says.
        self._expired_before = NO_TIMESTAMP
        #: By producer id: all its batches were lost, and it sends them again from the first on.
        self._awaited: dict[int, ProducerState] = {}
        if before is not None:
            self._awaited = before._awaited | before._doubtful()
            self._expired_before = before._expired_before

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, producer_id: int) -> bool:
        """In memory; a snapshot may know of others."""
        return producer_id in self._by_id

    def __iter__(self) -> Iterator[ProducerState]:
        return iter(self._by_id.values())

    def find_duplicate(self, batch: RecordBatch) -> AppendedBatch | None:
        """The batch in the log that `batch` is a retry of; refuses a gap and a stale epoch."""
        state = self._by_id.get(batch.producer_id) or self.recall(batch.producer_id)
        if state is None:
            if self._awaited:
                self._check_awaited(batch)
            return None
        if batch.producer_epoch != state.epoch:
            _check_new_epoch(state, batch)
            return None
        for appended in state.batches:
            if appended.first_sequence == batch.base_sequence and (
                appended.last_sequence == batch.last_sequence
            ):
                return appended
        expected = advance_sequence(state.batches[-1].last_sequence, 1) if state.batches else 0
        if batch.base_sequence != expected:
            raise OutOfOrderSequence(
                f"Out of order sequence number for producer {batch.producer_id} at epoch "
                f"{batch.producer_epoch}: {batch.base_sequence} (incoming), {expected} (expected)"
            )
        return None

    def recall(self, producer_id: int) -> ProducerState | None:
        """A producer that is not in memory may be in a snapshot."""
        state = self._look_up(producer_id)
        if state is None or state.last_timestamp < self._expired_before:
            return None
        self._know(state)
        return state

    def _doubtful(self) -> dict[int, ProducerState]:
        """Those that may have been in the commit that failed."""
        known = self._by_id
        ids = self._changed | self._in_snapshot
        return {i: known[i] for i in ids if i in known and known[i].batches}

    def _check_awaited(self, batch: RecordBatch) -> None:
        """Refuses what was pipelined behind lost batches: accepted now, it would overtake them."""
        lost = self._awaited.get(batch.producer_id)
        if lost is None or lost.epoch != batch.producer_epoch:
            return
        expected = lost.batches[0].first_sequence
        if 0 < advance_sequence(batch.base_sequence, -expected) <= MAX_SEQUENCE // 2:
            raise OutOfOrderSequence(
                f"Out of order sequence number for producer {batch.producer_id} at epoch "
                f"{batch.producer_epoch}: {batch.base_sequence} (incoming), {expected} (expected)"
            )

    def record(self, batch: RecordBatch) -> None:
        """Remembers a batch that now has its place in the log; start-up replays through here."""
        state = self._by_id.get(batch.producer_id)
        if state is None:
            state = ProducerState(batch.producer_id, batch.producer_epoch, batch.max_timestamp)
            self._by_id[batch.producer_id] = state
            self._awaited.pop(batch.producer_id, None)
        elif batch.producer_epoch != state.epoch:
            state.epoch = batch.producer_epoch
            state.batches.clear()
        state.last_timestamp = batch.max_timestamp
        self._changed.add(batch.producer_id)
        batches = state.batches
        if len(batches) == BATCHES_REMEMBERED:
            del batches[0]
        batches.append(
            AppendedBatch(
                batch.base_sequence,
                batch.last_sequence,
                batch.base_offset,
                batch.last_offset,
                batch.max_timestamp,
            )
        )

    def restore(self, state: ProducerState) -> None:
        """One that no look-up finds: the next snapshot keeps it."""
        self._know(state)
        self._changed.add(state.producer_id)

    def _know(self, state: ProducerState) -> None:
        self._by_id[state.producer_id] = state
        self._awaited.pop(state.producer_id, None)

    def changed(self) -> list[ProducerState]:
        """For a snapshot: those that have appended since the one before."""
        self._in_snapshot, self._changed = self._changed, set()
        known = self._by_id
        return [known[i] for i in self._in_snapshot if i in known]

    def expire(self, before_timestamp: int) -> int:
        """Forgets producers that have appended nothing since; returns how many."""
        # Not the latest ever: a clock that was ahead for a while must hide nothing for ever.
        self._expired_before = before_timestamp
        gone = [s.producer_id for s in self if s.last_timestamp < before_timestamp]
        for producer_id in gone:
            del self._by_id[producer_id]
        for lost in list(self._awaited.values()):
            if lost.last_timestamp < before_timestamp:
                del self._awaited[lost.producer_id]
        return len(gone)


def _check_new_epoch(state: ProducerState, batch: RecordBatch) -> None:
    if batch.producer_epoch < state.epoch:
        raise InvalidProducerEpoch(
            f"Epoch of producer {batch.producer_id} is {batch.producer_epoch}, which is smaller "
            f"than the last seen epoch {state.epoch}"
        )
    if batch.base_sequence != 0:
        raise OutOfOrderSequence(
            f"Invalid sequence number for new epoch of producer {batch.producer_id}: "
            f"{batch.producer_epoch} (request epoch), {batch.base_sequence} (sequence number)"
        )
