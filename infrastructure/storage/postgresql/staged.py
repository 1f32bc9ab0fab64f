"""Staged: the changes of one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from application.ports.log_store import Buffer
from infrastructure.storage.postgresql.entries import Entry, Growing
from infrastructure.storage.postgresql.timeline import NOT_KNOWN
from infrastructure.storage.repositories.scopes import MARKERS, is_shared


class Rewritten(NamedTuple):
    """Offsets of which compaction has replaced all entries."""

    partition_id: int
    first_offset: int
    last_offset: int
    #: If these were the newest entries of the log: where it ends now.
    log_end: int


class Freed(NamedTuple):
    """Bytes of an entry that is not needed any more."""

    partition_id: int
    last_offset: int
    size_bytes: int


class Staged:
    __slots__ = (
        "_growing", "added", "freed", "removed", "replaced", "rewritten", "rows", "timeline",
        "trimmed", "unregistered", "version", "why_not",
    )  # fmt: skip

    def __init__(self, version: int = 0, timeline: int = NOT_KNOWN) -> None:
        #: Of the shared rows, and of the server, on which changes of them were decided.
        self.version = version
        self.timeline = timeline
        self.added: list[Entry] = []
        self._growing: dict[int, Growing] = {}
        #: In the places of entries that are there, or new ones.
        self.replaced: list[Entry] = []
        #: Partition ids and last offsets of entries that are not replaced.
        self.removed: list[tuple[int, int]] = []
        self.rewritten: list[Rewritten] = []
        #: By partition id: up to this last offset no entry is left.
        self.trimmed: dict[int, int] = {}
        self.freed: list[Freed] = []
        self.rows: dict[tuple[str, bytes], bytes | None] = {}
        #: Node ids.
        self.unregistered: list[int] = []
        #: The pass cannot be committed.
        self.why_not: str | None = None

    def __bool__(self) -> bool:
        return bool(
            self.added or self._growing or self.rewritten or self.trimmed or self.rows
            or self.unregistered or self.why_not
        )  # fmt: skip

    @property
    def batch_bytes(self) -> int:
        """That go into the current tail, or into an object, once it has ended."""
        return sum(len(one.data) for one in (*self.added, *self.replaced))

    @property
    def changes_shared_rows(self) -> bool:
        return any(is_shared(table) for table, _ in self.rows)

    @property
    def changes_what_is_shared(self) -> bool:
        """Also markers, which any broker adds."""
        return bool(self.unregistered) or any(
            is_shared(table) or table == MARKERS for table, _ in self.rows
        )

    def of_table(self, table: str) -> list[tuple[bytes, bytes | None]]:
        """Its changed rows."""
        return [(key, row) for (of, key), row in self.rows.items() if of == table]

    def append(
        self, partition_id: int, last_offset: int, batch: Buffer, indexed_timestamp: int
    ) -> None:
        growing = self._growing.get(partition_id)
        if growing is None or not growing.has_room(len(batch)):
            self._end_entry(partition_id)
            growing = self._growing[partition_id] = Growing()
        elif last_offset <= growing.last_offset:
            self.why_not = f"partition {partition_id} has a batch at {last_offset} already"
            return
        indexed = [(indexed_timestamp, last_offset)] if indexed_timestamp >= 0 else ()
        growing.add(last_offset, bytes(batch), indexed)

    def _end_entry(self, partition_id: int) -> None:
        growing = self._growing.pop(partition_id, None)
        if growing is not None:
            self.added.append(growing.entry(partition_id))

    def end(self) -> None:
        """Before it is committed."""
        for partition_id in list(self._growing):
            self._end_entry(partition_id)

    def trim(self, partition_id: int, last_offset: int, sizes: Sequence[tuple[int, int]]) -> None:
        """`sizes`: of the entries that this removes, by last offset."""
        self.trimmed[partition_id] = max(last_offset, self.trimmed.get(partition_id, -1))
        self.freed += (Freed(partition_id, *one) for one in sizes)

    def rewrite(
        self, rewritten: Rewritten, new: Sequence[Entry], sizes: Sequence[tuple[int, int]]
    ) -> None:
        """`sizes`: of the entries that were there, by last offset."""
        partition_id = rewritten.partition_id
        offsets = {one.last_offset for one in new}
        self.removed += ((partition_id, one) for one, _ in sizes if one not in offsets)
        self.freed += (Freed(partition_id, *one) for one in sizes)
        self.replaced += new
        self.rewritten.append(rewritten)

    def shorten(self, ends: dict[int, int]) -> None:
        """Where logs end after all but its new entries."""
        for one in self.rewritten:
            # Nothing was appended since it was staged.
            if ends.get(one.partition_id) == one.last_offset + 1:
                ends[one.partition_id] = one.log_end
        for partition_id, last_offset in self.trimmed.items():
            if ends.get(partition_id, 0) <= last_offset + 1:
                ends.pop(partition_id, None)

    def trimmed_to(self, partition_id: int) -> int:
        """Below this offset nothing is left after the commit."""
        return self.trimmed.get(partition_id, -1) + 1

    def forget_batches(self, partition_id: int) -> None:
        """Of a log that is dropped."""
        self._growing.pop(partition_id, None)
        self.added = [one for one in self.added if one.partition_id != partition_id]
        self.replaced = [one for one in self.replaced if one.partition_id != partition_id]
