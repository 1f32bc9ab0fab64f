"""Transactions of a partition: the open ones, and the aborted ones in its transaction index.

The first offset of the oldest open transaction is the first unstable offset: READ_COMMITTED
consumers read up to there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from domain.messages.batch import RecordBatch

NONE_ABORTED = -1


class OpenTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    #: Before its first batch, as in `LogEnd`.
    appended_bytes: int = 0


class AbortedTransaction(NamedTuple):
    """An entry of Kafka's transaction index."""

    producer_id: int
    first_offset: int
    #: Of the marker.
    last_offset: int
    #: After the marker: later entries begin there or above.
    last_stable_offset: int

    def has(self, batch: RecordBatch) -> bool:
        """Whether a transactional batch is one of this transaction."""
        return (
            batch.producer_id == self.producer_id
            and self.first_offset <= batch.base_offset < self.last_offset
        )


class Transactions:
    __slots__ = ("_open", "last_aborted_offset")

    def __init__(
        self, opened: Iterable[OpenTransaction] = (), last_aborted_offset: int = NONE_ABORTED
    ) -> None:
        #: By producer id; first offsets ascend.
        self._open = {one.producer_id: one for one in opened}
        #: The newest entry of the index is not above. After a restart it may be below.
        self.last_aborted_offset = last_aborted_offset

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, producer_id: object) -> bool:
        return producer_id in self._open

    def __iter__(self) -> Iterator[OpenTransaction]:
        return iter(self._open.values())

    @property
    def oldest(self) -> OpenTransaction | None:
        return next(iter(self._open.values()), None)

    def first_offset(self, producer_id: int) -> int | None:
        """None: the producer has no open transaction here."""
        found = self._open.get(producer_id)
        return None if found is None else found.first_offset

    def begin(self, producer_id: int, first_offset: int, appended_bytes: int) -> None:
        """Unless it is open."""
        if producer_id not in self._open:
            self._open[producer_id] = OpenTransaction(producer_id, first_offset, appended_bytes)

    def end(self, producer_id: int) -> None:
        self._open.pop(producer_id, None)
