"""Producers: the state of idempotent producers of a partition, which detects retries and gaps.

For each producer id its epoch and last five batches, as in Kafka (clients have at most five
requests in flight). An unknown producer id is accepted at any sequence, because its state may have
expired. Exception: if a failed commit lost all batches of a producer, or its first one was refused,
batches that it had pipelined behind them must not be accepted first.

There may be a hundred thousand producers, so a snapshot has only those that changed since the last
one, and a restart loads none: they are looked up at their first batch.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

from domain.errors import InvalidProducerEpoch, OutOfOrderSequence, TransactionCoordinatorFenced
from domain.messages.batch import MAX_SEQUENCE, NO_TIMESTAMP, RecordBatch, advance_sequence
from domain.messages.control import EndMarker

BATCHES_REMEMBERED = 5
#: Refused batches may have any producer id; of more unknown producers the oldest are not awaited.
AWAITED_MAX = 10_000

#: Of a producer without markers.
NO_COORDINATOR_EPOCH = -1


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
    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_timestamp", "producer_id")

    def __init__(self, producer_id: int, epoch: int, last_timestamp: int) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_timestamp = last_timestamp
        #: Of its last marker. Headers do not have it, so after a crash it may be an older one.
        self.coordinator_epoch = NO_COORDINATOR_EPOCH
        self.batches: list[AppendedBatch] = []

    @property
    def newest(self) -> tuple[int, int, int]:
        """Epoch, last sequence and offset; -1: no batch is known."""
        if not self.batches:
            return self.epoch, -1, -1
        return self.epoch, self.batches[-1].last_sequence, self.batches[-1].last_offset


#: Reads the state of a producer from snapshots.
LookUp = Callable[[int], ProducerState | None]


def no_snapshot(producer_id: int) -> None:
    return None


class Producers:
    __slots__ = ("_awaited", "_by_id", "_changed", "_expired_before", "_in_snapshots", "_look_up")

    def __init__(self, before: Producers | None = None, look_up: LookUp = no_snapshot) -> None:
        """`before`: the producers until a failed commit, after which the partition recovers."""
        self._by_id: dict[int, ProducerState] = {}
        self._look_up = look_up
        #: Changed since the last snapshot; in the last two, whose commits may still fail: that of
        #: a hand-over is staged while another one may be under way.
        self._changed: set[int] = set()
        self._in_snapshots: tuple[set[int], set[int]] = set(), set()
        #: Producers without batches since then are unknown, also if a snapshot has them.
        self._expired_before = NO_TIMESTAMP
        #: Unknown producers whose batches were lost or refused: they send them again, from the
        #: first on.
        self._awaited: dict[int, ProducerState] = {}
        if before is not None:
            self._awaited = before._awaited | before._doubtful()
            self._expired_before = before._expired_before

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, producer_id: int) -> bool:
        """In memory; snapshots may have others."""
        return producer_id in self._by_id

    def __iter__(self) -> Iterator[ProducerState]:
        return iter(self._by_id.values())

    def find_duplicate(self, batch: RecordBatch) -> AppendedBatch | None:
        """The batch in the log that `batch` repeats; raises at a gap or a stale epoch."""
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

    def find(self, producer_id: int) -> ProducerState | None:
        return self._by_id.get(producer_id) or self.recall(producer_id)

    def recall(self, producer_id: int, expires: bool = True) -> ProducerState | None:
        """Loads a producer from the snapshots."""
        state = self._look_up(producer_id)
        if state is None or (expires and self.is_expired(state)):
            return None
        self._add(state)
        return state

    def is_expired(self, state: ProducerState) -> bool:
        """A snapshot may still have it."""
        return state.last_timestamp < self._expired_before

    def _doubtful(self) -> dict[int, ProducerState]:
        """Producers that may have batches in the failed commit."""
        known = self._by_id
        ids = self._changed.union(*self._in_snapshots)
        return {i: known[i] for i in ids if i in known and known[i].batches}

    def await_first(self, batch: RecordBatch, first_sequence: int) -> None:
        """Before the first batch of an unknown producer is admitted, or refused."""
        before = self._awaited.get(batch.producer_id)
        if before is not None and before.epoch == batch.producer_epoch:
            first_sequence = min(first_sequence, before.batches[0].first_sequence)
        awaited = ProducerState(batch.producer_id, batch.producer_epoch, batch.max_timestamp)
        awaited.batches.append(AppendedBatch(first_sequence, 0, 0, 0, batch.max_timestamp))
        self._awaited[batch.producer_id] = awaited
        if len(self._awaited) > AWAITED_MAX:
            del self._awaited[next(iter(self._awaited))]

    def _check_awaited(self, batch: RecordBatch) -> None:
        """Refuses batches that were pipelined behind others: they would overtake them."""
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
        """Adds an appended or replayed batch."""
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

    def check_marker(self, marker: EndMarker, is_open: bool, transaction_version: int) -> None:
        """Raises if the marker is stale.

        With version 2 the coordinator raises the epoch at each end of a transaction, so that a
        marker with the epoch of an open transaction is one of an earlier transaction.
        """
        state = self.find(marker.producer_id)
        if state is None:
            return
        epoch = marker.producer_epoch
        ends_earlier = epoch == state.epoch and is_open and transaction_version >= 2
        if epoch < state.epoch or ends_earlier:
            raise InvalidProducerEpoch(
                f"Epoch of producer {marker.producer_id} is {epoch}, which is "
                f"{'not above' if ends_earlier else 'below'} the last seen epoch {state.epoch}"
            )
        if marker.coordinator_epoch < state.coordinator_epoch:
            raise TransactionCoordinatorFenced(
                f"Coordinator epoch for producer {marker.producer_id} is "
                f"{marker.coordinator_epoch}, which is below the last seen epoch "
                f"{state.coordinator_epoch}"
            )

    def end_transaction(self, marker: RecordBatch) -> None:
        """The marker's epoch becomes the producer's; sequences of a new epoch start at 0."""
        producer_id, epoch = marker.producer_id, marker.producer_epoch
        state = self.find(producer_id)
        if state is None:
            state = ProducerState(producer_id, epoch, marker.max_timestamp)
            self._add(state)
        elif epoch != state.epoch:
            state.epoch = epoch
            state.batches.clear()
        state.last_timestamp = marker.max_timestamp
        self._changed.add(producer_id)

    def set_coordinator_epoch(self, marker: EndMarker) -> None:
        self._by_id[marker.producer_id].coordinator_epoch = marker.coordinator_epoch

    def restore(self, state: ProducerState) -> None:
        """Adds a producer that is in no snapshot row yet."""
        self._add(state)
        self._changed.add(state.producer_id)

    def _add(self, state: ProducerState) -> None:
        self._by_id[state.producer_id] = state
        self._awaited.pop(state.producer_id, None)

    def changed(self) -> list[ProducerState]:
        """For a snapshot: producers that changed since the last one."""
        changed, self._changed = self._changed, set()
        self._in_snapshots = self._in_snapshots[1], changed
        known = self._by_id
        return [known[i] for i in changed if i in known]

    def expire(self, before_timestamp: int, spared: Container[int] = ()) -> int:
        """Removes producers without batches since then; returns their number."""
        # Not the maximum: a clock that was ahead for a while must not hide producers forever.
        self._expired_before = before_timestamp
        gone = [
            state.producer_id
            for state in self
            if state.last_timestamp < before_timestamp and state.producer_id not in spared
        ]
        for producer_id in gone:
            del self._by_id[producer_id]
        for lost in list(self._awaited.values()):
            if lost.last_timestamp < before_timestamp:
                del self._awaited[lost.producer_id]
        return len(gone)


def check_epoch(state: ProducerState, batch: RecordBatch) -> None:
    if batch.producer_epoch < state.epoch:
        raise InvalidProducerEpoch(
            f"Epoch of producer {batch.producer_id} is {batch.producer_epoch}, which is smaller "
            f"than the last seen epoch {state.epoch}"
        )


def _check_new_epoch(state: ProducerState, batch: RecordBatch) -> None:
    check_epoch(state, batch)
    if batch.base_sequence != 0:
        raise OutOfOrderSequence(
            f"Invalid sequence number for new epoch of producer {batch.producer_id}: "
            f"{batch.producer_epoch} (request epoch), {batch.base_sequence} (sequence number)"
        )
