"""TransactionalScan: a scan whose lines say what became of the transaction of each record.

A scan may run in a worker process, which knows the producer of a batch only. So its lines leave the
state open, and it is filled in here, by the partition and its transaction index, a part at a time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from application.ports.pending import Pending
from application.ports.transaction_index import TransactionIndex
from application.records.rendering import UNRESOLVED
from application.records.scan_worker import RunningScan, ScanPart
from domain.partitions.partition import Partition
from domain.partitions.transactions import AbortedTransaction

OPEN, ABORTED, COMMITTED = b"open", b"aborted", b"committed"
_PLACE = re.compile(rb'\{"partition_id":(\d+),"offset":(\d+),')
_END = re.compile(
    rb'"producer_id":(-?\d+),"producer_epoch":-?\d+,"transaction":' + re.escape(UNRESOLVED)
)


class TransactionalScan:
    def __init__(
        self, scan: RunningScan, partitions: Mapping[int, Partition], index: TransactionIndex
    ) -> None:
        """`partitions`: by their numbers."""
        self._scan = scan
        self._partitions = partitions
        self._index = index
        #: The newest that was found, by partition and producer: its records follow each other.
        self._aborted: dict[tuple[int, int], AbortedTransaction] = {}

    def next(self) -> Pending[ScanPart]:
        return self._scan.next().map(self._resolved)

    def close(self) -> None:
        self._scan.close()

    def _resolved(self, part: ScanPart) -> ScanPart:
        lines = part.data.splitlines(keepends=True)
        return part._replace(data=b"".join(map(self._line, lines)))

    def _line(self, line: bytes) -> bytes:
        end = line.rfind(b',"producer_id":')
        found, place = _END.match(line, end + 1), _PLACE.match(line)
        if found is None or place is None:
            return line
        partition = self._partitions[int(place[1])]
        state = self._state(partition, int(place[2]), int(found[1]))
        return line[: -len(UNRESOLVED) - 2] + b'"' + state + b'"}\n'

    def _state(self, partition: Partition, offset: int, producer_id: int) -> bytes:
        first_offset = partition.transactions.first_offset(producer_id)
        if first_offset is not None and offset >= first_offset:
            return OPEN
        key = (partition.index, producer_id)
        known = self._aborted.get(key)
        if known is not None and known.first_offset <= offset < known.last_offset:
            return ABORTED
        for one in self._index.overlapping(partition.partition_id, offset, offset + 1):
            if one.producer_id == producer_id and offset < one.last_offset:
                self._aborted[key] = one
                return ABORTED
        return COMMITTED
