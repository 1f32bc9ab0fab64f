"""Transactional producers of scenarios. These requests are not recorded."""

from __future__ import annotations

from interfaces.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from interfaces.kafka.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from interfaces.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from interfaces.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from interfaces.kafka.wire.messages.produce import ProduceResponse
from tests.fakes.batches import Record, record_batch
from tests.oracle.requests import produce
from tests.oracle.scenario_run import ScenarioRun, Topic

CONCURRENT_TRANSACTIONS = 51
#: Kafka begins a segment, where a fetch ends, if a marker is much later than the first batch.
LONG_SEGMENT = str(1 << 60)
_POLLS = 5_000


class Producer:
    """Of one transactional id."""

    def __init__(self, run: ScenarioRun, short: str = "tx", timeout_ms: int = 60_000) -> None:
        self._run = run
        self._timeout_ms = timeout_ms
        self._sequence = 0
        self.name = run.name(short)
        self.init()

    def init(self) -> None:
        request = InitProducerIdRequest(
            transactional_id=self.name, transaction_timeout_ms=self._timeout_ms
        )
        for _ in range(_POLLS):
            given = self._run.call(request, InitProducerIdResponse, 4)
            if given.error_code != CONCURRENT_TRANSACTIONS:
                break
        assert given.error_code == 0, given
        self.id, self.epoch, self._sequence = given.producer_id, given.producer_epoch, 0
        self._run.placeholders.add_producer(self.id)

    def add(self, topic: Topic, *partitions: int) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=topic.name, partitions=list(partitions or (0,)))
            ],
        )
        for _ in range(_POLLS):
            added = self._run.call(request, AddPartitionsToTxnResponse, 3)
            codes = {
                partition.partition_error_code
                for one in added.results_by_topic_v3_and_below
                for partition in one.results_by_partition
            }
            if codes != {CONCURRENT_TRANSACTIONS}:
                break
        assert codes == {0}, added

    def send(self, topic: Topic, *records: Record) -> None:
        """Adds the partition, and appends a batch to it."""
        self.add(topic)
        batch = record_batch(
            list(records),
            producer_id=self.id,
            epoch=self.epoch,
            sequence=self._sequence,
            transactional=True,
        )
        request = produce(topic, batch, transactional_id=self.name)
        [sent] = self._run.call(request, ProduceResponse, 11).responses[0].partition_responses
        assert sent.error_code == 0, sent
        self._sequence += len(records)

    def end(self, committed: bool = True, version: int = 3) -> None:
        ended = self._run.call(self.ending(committed), EndTxnResponse, version)
        assert ended.error_code == 0, ended
        if version >= 5:
            self.id, self.epoch, self._sequence = ended.producer_id, ended.producer_epoch, 0
        self.settle()

    def ending(
        self, committed: bool = True, epoch: int | None = None, producer_id: int | None = None
    ) -> EndTxnRequest:
        return EndTxnRequest(
            transactional_id=self.name,
            producer_id=self.id if producer_id is None else producer_id,
            producer_epoch=self.epoch if epoch is None else epoch,
            committed=committed,
        )

    def settle(self) -> None:
        """Kafka responds before the markers are written."""
        request = DescribeTransactionsRequest(transactional_ids=[self.name])
        for _ in range(_POLLS):
            [state] = self._run.call(request, DescribeTransactionsResponse, 0).transaction_states
            if not state.transaction_state.startswith("Prepare"):
                return
        raise AssertionError(f"{self.name} is {state.transaction_state}")
