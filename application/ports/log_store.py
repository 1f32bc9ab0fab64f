"""LogStore: batches by partition and offset, as opaque bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from application.ports.pending import Pending

#: A batch: the bytes of the client, patched in place.
Buffer = bytes | bytearray | memoryview

#: Of the timestamp index: the largest timestamp up to a batch, and the last offset of the batch.
IndexEntry = tuple[int, int]

#: Above all offsets: the pass of compaction is over.
END_OF_PASS = 1 << 63

#: `append` adds no entry to the timestamp index.
NOT_INDEXED = -1


class LogName(NamedTuple):
    """Of the log of a partition."""

    topic: str
    partition: int
    topic_id: bytes


class Trimmed(NamedTuple):
    #: Of the removed batches.
    size_bytes: int
    #: Nothing is left to remove.
    done: bool


class NotInMemory(Exception):
    """A read would wait for the disk, or a server: repeat the call when `loading` is resolved.

    Like a page fault, this is no failure. The repeated call checks everything again: meanwhile the
    topic may be deleted, the leader or the log start moved, or the loaded pages evicted.
    """

    def __init__(self, loading: Pending[None]) -> None:
        super().__init__()
        self.loading = loading


class LogStore(Protocol):
    """Appends, names, replaces and removals are staged; the next commit persists all or none.

    Reads see committed data only. A call that reads raises NotInMemory if the data is not in
    memory; an engine that was opened without an event loop waits instead. An engine that cannot
    stage a change fails the next commit; the call that stages does not raise.
    """

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
        begins_segment: bool = False,
    ) -> None:
        """Stages one batch; `last_offset` is above all earlier ones.

        No reference to `batch` outlives the call. `indexed_timestamp` is added to the timestamp
        index: the largest timestamp of the partition, up to and including this batch.
        `begins_segment`: as in Kafka; an engine that stores no segments does not need it.
        """
        ...

    def name(self, partition_id: int, name: LogName | None) -> None:
        """Stages to which partition the log belongs; None: to none any more."""
        ...

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        """Consecutive whole batches, from the one that contains `offset` (or the first after it).

        Only batches whose last offset is below `end_offset`, as many as fit in `max_bytes`, or
        fewer if the rest is not in memory; with `whole_first` the first is returned even if it is
        larger. May raise NotInMemory.
        """
        ...

    def read_to(
        self,
        partition_id: int,
        offset: int,
        end_offset: int,
        max_bytes: int,
        whole_first: bool,
        loads: bool = True,
    ) -> tuple[Buffer, int]:
        """As `read`, with the offset after the last batch; `offset` if there is none.

        The batches may be a view of what is stored, which does not change. May raise NotInMemory.
        Without `loads` nothing begins to load: there are no batches if they are not in memory.
        """
        ...

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        """The first 61 bytes of up to `limit` batches, starting like `read`.

        Fewer if the rest is not in memory; none only at the end. May raise NotInMemory; with
        `waits` it waits for the disk instead.
        """
        ...

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        """An offset at, or close before, the first batch with a timestamp >= `timestamp`.

        The offset after the last index entry with a smaller timestamp, or 0. May raise NotInMemory.
        """
        ...

    def copy_before(self, partition_id: int, offset: int) -> bool:
        """Stages a step that has to be committed before `replace` at an offset; True: none is left.

        An engine that stores segments copies those that are replaced in part, some at a time. With
        END_OF_PASS nothing is left of that. May raise NotInMemory before it has staged anything.
        """
        ...

    def replace(
        self,
        partition_id: int,
        first_offset: int,
        last_offset: int,
        batches: Sequence[Buffer],
        indexed: Sequence[IndexEntry],
    ) -> int:
        """Stages that all committed batches that end within these offsets become `batches`.

        In order, each within the offsets; no batch needs to end at `last_offset`. The timestamp
        index of these offsets becomes `indexed`, between the timestamps of the entries around it.
        Returns by how many bytes the log grows; below 0 it shrinks. A pass replaces no batch twice,
        and none that it trims. May raise NotInMemory before it has staged anything.
        """
        ...

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        """Stages the removal of up to `max_batches` committed batches that end below an offset.

        Oldest first, with their entries of the timestamp index. An engine that stores batches
        together, small ones or those of a segment, counts those as one, and removes them together.
        It removes at least one if there is one, and may remove fewer if they are large. May raise
        NotInMemory before it has staged anything.
        """
        ...

    def drop(self, partition_id: int, max_batches: int) -> bool:
        """Stages the removal of up to `max_batches` batches of a deleted partition, as `trim` does.

        True if nothing of the partition (index included) is left after the commit. May raise
        NotInMemory before it has staged anything.
        """
        ...

    def partition_ids(self) -> list[int]:
        """The partitions that have at least one committed batch, ascending."""
        ...
