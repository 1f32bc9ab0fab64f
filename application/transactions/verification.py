"""TransactionVerification: reads transactions that another broker coordinates (KIP-890, part 1).

Before the first batch of a transaction in a partition, its leader has to know that the transaction
is open, and has the partition. The row in the store says it; Kafka's leaders ask the coordinator.
What was read does not count if the producer's transaction was ended here in the meantime, or if a
leader has changed: this is Kafka's VerificationGuard.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.ports.placement import Placement
from domain.errors import StorageFailed
from domain.transactions.transaction import Transaction

#: Of clients that did not come back.
MOST_READS = 1000

Found = Transaction | StorageFailed | None
#: Reads the row of a transactional id.
Read = Callable[[str], Pending[Found]]
#: Connection id and correlation id.
RequestId = tuple[int, int]
_Key = tuple[RequestId, int]


class _Reading:
    __slots__ = ("found", "waiting")

    def __init__(self) -> None:
        #: Once it is read.
        self.found: list[Found] = []
        self.waiting: list[Pending[None]] = []

    def done(self, found: Found) -> None:
        self.found.append(found)
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            one.resolve(None)


class TransactionVerification:
    def __init__(self, read: Read, placement: Placement) -> None:
        self._read = read
        #: By request and producer id, the oldest first.
        self._readings: dict[_Key, _Reading] = {}
        placement.on_moved(self._moved)

    def read(self, request_id: RequestId, transactional_id: str, producer_id: int) -> Found:
        """As it is since the request has arrived. Raises NotInMemory."""
        key = request_id, producer_id
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = _Reading()
            if len(self._readings) > MOST_READS:
                self._forget_one()
            self._read(transactional_id).then(reading.done)
        if not reading.found:
            loading: Pending[None] = Pending()
            reading.waiting.append(loading)
            raise NotInMemory(loading)
        self._readings.pop(key, None)
        return reading.found[0]

    def _forget_one(self) -> None:
        """The oldest without a request that waits: it would read again, and so on."""
        for key, reading in self._readings.items():
            if reading.found:
                del self._readings[key]
                return

    def forget(self, producer_id: int) -> None:
        """A transaction of the producer has ended in a partition or group here."""
        for key in [one for one in self._readings if one[1] == producer_id]:
            del self._readings[key]

    def _moved(self, partition_ids: Collection[int]) -> None:
        self._readings.clear()


class ReadsOfRequest:
    """Of one request: it reads each transaction once."""

    __slots__ = ("_found", "_read")

    def __init__(
        self, verification: TransactionVerification, request_id: RequestId, transactional_id: str
    ) -> None:
        self._read = partial(verification.read, request_id, transactional_id)
        self._found: dict[int, Found] = {}

    def __call__(self, producer_id: int) -> Transaction | None:
        """Raises NotInMemory or StorageFailed."""
        if producer_id not in self._found:
            self._found[producer_id] = self._read(producer_id)
        found = self._found[producer_id]
        if isinstance(found, StorageFailed):
            raise found.as_value()
        return found
