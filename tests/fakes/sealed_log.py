"""FakeSealedLog: the log of a test, up to an offset that the test chooses."""

from __future__ import annotations

from application.ports.log_store import LogStore
from application.ports.pending import Pending, resolved
from application.ports.sealed_log import SealedRecords


class AskedRead(Pending[SealedRecords | None]):
    is_abandoned = False

    def abandon(self) -> None:
        super().abandon()
        self.is_abandoned = True


class FakeSealedLog:
    def __init__(self, log: LogStore) -> None:
        self._log = log
        #: Of all partitions.
        self.end_offset = 0
        self.log_start_offset = 0
        #: Offsets that were asked for.
        self.asked: list[int] = []
        #: Fetches wait here, if it is a list.
        self.waiting: list[AskedRead] | None = None

    def is_sealed(self, partition_id: int, first_offset: int, end_offset: int) -> bool:
        return first_offset < end_offset <= self.end_offset

    def fetch(
        self, partition_id: int, offset: int, max_bytes: int, whole_first: bool
    ) -> Pending[SealedRecords | None]:
        self.asked.append(offset)
        if self.waiting is not None:
            self.waiting.append(AskedRead())
            return self.waiting[-1]
        return resolved(self.found(partition_id, offset, max_bytes, whole_first))

    def found(
        self, partition_id: int, offset: int, max_bytes: int = 1 << 20, whole_first: bool = True
    ) -> SealedRecords | None:
        end = self.end_offset
        if not self.log_start_offset <= offset < end:
            return None
        records = self._log.read(partition_id, offset, end, max_bytes, whole_first)
        return SealedRecords(self.log_start_offset, end + 1, end, records, [])
