"""A transactional producer over the services of a FakeBroker."""

from __future__ import annotations

from typing import TypeVar

from application.ports.pending import Pending
from application.transactions.coordinator import SupportedOperation, TransactionCoordinator
from application.transactions.produce_admission import ProduceAdmission
from domain.errors import BrokerError
from domain.partitions.appended import Appended
from domain.transactions.transaction import TV_2, ProducerIdAndEpoch, Transaction
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

R = TypeVar("R")


def outcome(pending: Pending[R]) -> list[R]:
    """Gets the value when it is there."""
    found: list[R] = []
    pending.then(found.append)
    return found


class TransactionalProducer:
    def __init__(self, fake: FakeBroker, name: str = "tx", timeout_ms: int = 60_000) -> None:
        self.fake, self.name, self.timeout_ms = fake, name, timeout_ms
        self.producer = ProducerIdAndEpoch(-1, -1)
        self.sequences: dict[int, int] = {}

    @property
    def coordinator(self) -> TransactionCoordinator:
        return self.fake.broker.transactions.coordinator

    @property
    def transaction(self) -> Transaction:
        found = self.fake.broker.transactions.registry.find(self.name)
        assert found is not None
        return found

    def init(self) -> ProducerIdAndEpoch:
        found = outcome(self.coordinator.init_producer_id(self.name, self.timeout_ms, None))
        self.fake.run()
        [given] = found
        assert not isinstance(given, BrokerError), given
        self.producer = given
        self.sequences.clear()
        return given

    def send(
        self, index: int = 0, operation: SupportedOperation = SupportedOperation.ADD_PARTITION
    ) -> Appended | BrokerError:
        """Stages a batch for the commit of this pass."""
        sequence = self.sequences.get(index, 0)
        batch = record_batch(
            ["x"],
            producer_id=self.producer.producer_id,
            epoch=self.producer.epoch,
            sequence=sequence,
            transactional=True,
        )
        appended = self.fake.broker.messages.produce.append(
            self.fake.partition(index=index),
            memoryview(batch),
            True,
            ProduceAdmission(self.coordinator, self.name, operation),
        )
        if not isinstance(appended, BrokerError):
            self.sequences[index] = sequence + 1
        return appended

    def sent(self, index: int = 0) -> Appended:
        appended = self.send(index)
        assert not isinstance(appended, BrokerError), appended
        self.fake.run()
        return appended

    def end(
        self, committed: bool = True, version: int = TV_2
    ) -> list[ProducerIdAndEpoch | BrokerError]:
        return outcome(self.coordinator.end(self.name, self.producer, committed, version))

    def ended(self, committed: bool = True, version: int = TV_2) -> ProducerIdAndEpoch:
        found = self.end(committed, version)
        self.fake.run()
        [after] = found
        assert not isinstance(after, BrokerError), after
        if after.epoch != self.producer.epoch:
            self.sequences.clear()
        self.producer = after
        return after
