"""LogStore: where batches lie, by partition and offset, and nothing about what they mean."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from application.ports.pending import Pending

#: What a batch is handed over as: the client's bytes, patched in place.
Buffer = bytes | bytearray | memoryview

#: `append` writes no entry of the timestamp index.
NOT_INDEXED = -1


class Trimmed(NamedTuple):
    #: Of the batches that go.
    size_bytes: int
    #: Nothing that may go is left.
    done: bool


class NotInMemory(Exception):
    """A read would have to wait: it is to be repeated when `loading` is resolved.

    Like a page fault, it is no failure and says nothing about the data. The repeated read judges
    everything anew: meanwhile the topic may have been deleted, or what was loaded evicted again.
    """

    def __init__(self, loading: Pending[None]) -> None:
        super().__init__()
        self.loading = loading


class LogStore(Protocol):
    """Staged by `append`, `trim` and `drop`, kept by the next commit, forgotten whole when that
    fails.

    Reads see committed data only. Where what they need is not in memory, `read` and `headers` raise
    NotInMemory; an engine that was opened without an event loop reads at once instead. An engine
    that cannot take what is staged remembers that and fails the next commit; nothing that stages
    raises for it.
    """

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
    ) -> None:
        """Stages one batch whose last record has `last_offset`, above all that came before.

        No reference to `batch` outlives the call. With `indexed_timestamp`, the timestamp index
        gets an entry: the largest timestamp of the partition up to and with this batch.
        """
        ...

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        """Consecutive whole batches, from the one that holds `offset` (or the first after it).

        Only batches whose last offset lies below `end_offset`, as many as fit in `max_bytes`, or
        fewer where they were not in memory; with `whole_first` the first comes even when it alone
        is larger. Empty when none.
        """
        ...

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        """The first 61 bytes of up to `limit` batches, starting like `read`.

        Fewer where the rest is not in memory; none only at the end. With `waits` it waits for the
        disk itself and gives as many as there are.
        """
        ...

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        """An offset close before, or at, the first batch with a timestamp >= `timestamp`.

        It is one after the offset of the last index entry with a smaller timestamp, or 0.
        """
        ...

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        """Stages the removal of up to `max_batches` committed batches that end below an offset.

        The oldest go first, and so do the entries of the timestamp index that lead below it. An
        engine that keeps small batches together counts those as one, which stays while one of
        them does. At least one goes, if there is one; fewer than asked for where they are large.
        """
        ...

    def drop(self, partition_id: int, max_batches: int) -> bool:
        """Stages the removal of up to `max_batches` batches of a deleted partition.

        An engine that keeps small batches together counts those as one.
        True when nothing of the partition (index included) is left once that is committed.
        """
        ...

    def partition_ids(self) -> list[int]:
        """The partitions that have at least one committed batch, ascending."""
        ...
