"""The requests of a transactional producer to its coordinator, in both transaction versions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from domain.transactions.transaction import ProducerIdAndEpoch
from interfaces.kafka.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from interfaces.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from interfaces.kafka.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from interfaces.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from interfaces.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.fakes.consumer_protocol import by_topic
from tests.simulation.actors.client import Call, Client
from tests.simulation.attempts import Attempt, Init, Key
from tests.simulation.model import Violation
from tests.simulation.situations import Situation
from tests.simulation.transactions import group_of

if TYPE_CHECKING:
    from tests.simulation.world import World

UNKNOWN_TOPIC, INVALID_EPOCH, INVALID_STATE, UNKNOWN_MAPPING = 3, 47, 48, 49
NOT_ATTEMPTED, UNSTABLE, FENCED = 55, 88, 90
#: Retriable errors: loading, not available, not the coordinator, CONCURRENT_TRANSACTIONS.
LATER = (14, 15, 16, 51)


class Transactor(Client):
    def __init__(self, world: World, name: str, transactional_id: str) -> None:
        super().__init__(world, name)
        self.transactional_id = transactional_id
        self.group_id = group_of(transactional_id)
        #: Transaction version 2: the epoch rises with each end, requests add their partition.
        self.is_version_2 = self.random.random() < 0.5
        self.timeout_ms = self.random.choice((150, 600, 3000))
        self.producer: ProducerIdAndEpoch | None = None
        #: An older producer to continue with, after its transaction has timed out.
        self.previous: ProducerIdAndEpoch | None = None
        self.init: Init | None = None
        self.attempt: Attempt | None = None
        #: Offsets of the transaction that are not acknowledged.
        self.offsets: list[tuple[Key, int, str]] = []
        #: What the coordinator has added (transaction version 1).
        self.added: set[tuple[str, int]] = set()
        self.has_added_group = False
        #: A request may arrive again, after the end of its transaction: in version 1 only a new
        #: epoch fences it.
        self.needs_epoch = False
        self.ending: bool | None = None
        #: The response to an end was lost.
        self.end_is_retry = False
        self.waiting = False

    # ---- to implement

    def begin_again(self) -> None:
        """Without a transaction, and maybe without a producer."""
        raise NotImplementedError

    def new_epoch(self) -> None:
        """Sequences begin at 0."""
        raise NotImplementedError

    def give_up(self) -> None:
        """Aborts the transaction: a topic of it is gone."""
        raise NotImplementedError

    # ---- common parts

    @property
    def transactions(self) -> Any:
        return self.world.model.transactions

    def lost(self, calls: list[Call]) -> None:
        if self.waiting:
            self.needs_epoch = not self.is_version_2
            self.end_is_retry = self.end_is_retry or self.ending is not None
        self.waiting = False

    def again(self, *delays_ms: int) -> None:
        self.waiting = False
        self.later(self.random.choice(delays_ms or (1, 20, 60)))

    def accepted(self, call: Call) -> None:
        assert self.init is not None
        self.transactions.attempts.check_accepted(self.transactional_id, self.init, call.sent_ms)

    def refused(self, what: str, code: int, call: Call, expected: Iterable[int]) -> None:
        """Checks that this producer may be fenced, and begins again."""
        attempts = self.transactions.attempts
        self.log(f"{what} is refused with error {code}")
        if code not in expected:
            raise Violation(f"{self.name}: {what} failed with {code}")
        assert self.init is not None
        replaced = attempts.is_replaced(self.transactional_id, self.init)
        timed_out = self.attempt is not None and attempts.may_have_timed_out(self.attempt)
        has_expired = self.world.transactions.expiration_ms is not None
        #: As in Kafka, an end before the transaction before it is completed.
        early = what == "EndTxn" and attempts.has_incomplete(self.transactional_id, call.requested)
        if not (replaced or timed_out or early or (has_expired and code == UNKNOWN_MAPPING)):
            raise Violation(f"{self.name}: {what} failed with {code}, and nobody has fenced it")
        if replaced:
            self.world.count(Situation.PRODUCER_FENCED)
        elif timed_out and self.is_version_2 and self.random.random() < 0.5:
            self.previous = self.producer  # KIP-360
        self.producer = self.attempt = None
        self.begin_again()

    # ---- InitProducerId

    def initialize(self) -> None:
        self.waiting = True
        init = self.transactions.attempts.initializes(self.transactional_id)
        previous = self.previous or ProducerIdAndEpoch(-1, -1)
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self.timeout_ms,
            producer_id=previous.producer_id,
            producer_epoch=previous.epoch,
        )
        self.send(request, 4, lambda call, response: self._initialized(response, init))

    def _initialized(self, response: InitProducerIdResponse, init: Init) -> None:
        init.responded_ms = self.world.timeline.now
        previous, self.previous = self.previous, None
        if response.error_code in LATER:
            self.previous = previous
            self.again()
        elif response.error_code in (FENCED, UNKNOWN_MAPPING) and previous is not None:
            self.again()
        elif response.error_code:
            raise Violation(f"{self.name}: InitProducerId failed with {response.error_code}")
        else:
            producer = ProducerIdAndEpoch(response.producer_id, response.producer_epoch)
            self.log(f"is {producer}")
            self.transactions.attempts.initialized(init, producer, is_new=previous is None)
            self.world.model.check_producer_of(producer.producer_id, self.transactional_id)
            self.init, self.producer = init, producer
            self.needs_epoch = False
            self.new_epoch()
            self.begin_again()

    # ---- AddPartitionsToTxn, AddOffsetsToTxn: transaction version 1

    def add_partitions(self, places: set[tuple[str, int]]) -> None:
        self.waiting = True
        assert self.producer is not None
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer.producer_id,
            v3_and_below_producer_epoch=self.producer.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=topic, partitions=indexes)
                for topic, indexes in by_topic(sorted(places)).items()
            ],
        )
        self.send(request, 3, lambda call, response: self._partitions_added(call, response, places))

    def _partitions_added(self, call: Call, response: Any, places: set[tuple[str, int]]) -> None:
        codes = {
            (topic.name, one.partition_index): one.partition_error_code
            for topic in response.results_by_topic_v3_and_below
            for one in topic.results_by_partition
        }
        unknown = [place for place, code in codes.items() if code == UNKNOWN_TOPIC]
        code = next((one for one in codes.values() if one not in (UNKNOWN_TOPIC, NOT_ATTEMPTED)), 0)
        if code in LATER:
            self.again()
        elif code:
            self.refused("AddPartitionsToTxn", code, call, (FENCED, UNKNOWN_MAPPING))
        elif unknown:
            for topic, index in unknown:
                self.world.model.refused_as_unknown(topic, index, *call.commits)
            self.waiting = False
            self.give_up()
        else:
            self.accepted(call)
            self.added |= places
            self.again(0, 1)

    def add_offsets(self) -> None:
        self.waiting = True
        assert self.producer is not None
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.epoch,
            group_id=self.group_id,
        )
        self.send(request, 3, self._offsets_added)

    def _offsets_added(self, call: Call, response: Any) -> None:
        if response.error_code in LATER:
            self.again()
        elif response.error_code:
            self.refused("AddOffsetsToTxn", response.error_code, call, (FENCED, UNKNOWN_MAPPING))
        else:
            self.accepted(call)
            self.has_added_group = True
            self.again(0, 1)

    # ---- TxnOffsetCommit

    def commit_offsets(self) -> None:
        self.waiting = True
        assert self.producer is not None
        topics = [
            TxnOffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    TxnOffsetCommitRequestPartition(
                        partition_index=index, committed_offset=offset, committed_metadata=metadata
                    )
                ],
            )
            for (_, topic, index), offset, metadata in self.offsets
        ]
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=self.group_id,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.epoch,
            topics=topics,
        )
        self.send(request, 5 if self.is_version_2 else 4, self._offsets_committed)

    def _offsets_committed(self, call: Call, response: Any) -> None:
        codes = {
            (self.group_id, topic.name, one.partition_index): one.error_code
            for topic in response.topics
            for one in topic.partitions
        }
        code = next((one for one in codes.values() if one not in (0, UNKNOWN_TOPIC)), 0)
        if code in LATER:
            self.again()
            return
        if code:
            self.refused("TxnOffsetCommit", code, call, (INVALID_EPOCH, UNKNOWN_MAPPING))
            return
        self.waiting = False
        for key, offset, _ in self.offsets:
            if codes[key]:
                self.world.model.refused_as_unknown(key[1], key[2], *call.commits)
            else:
                self.accepted(call)
                self.transactions.offset_acked(key, offset, call.responded)
        self.offsets.clear()
        if UNKNOWN_TOPIC in codes.values():
            self.give_up()
        else:
            self.again(0, 1, 20)

    def read_offsets(self) -> None:
        """As a consumer that waits for stable offsets."""
        self.waiting = True
        group = OffsetFetchRequestGroup(group_id=self.group_id, topics=None)
        request = OffsetFetchRequest(groups=[group], require_stable=True)
        self.send(request, 8, self._offsets_read)

    def _offsets_read(self, call: Call, response: Any) -> None:
        (group,) = response.groups
        for topic in group.topics:
            for one in topic.partitions:
                key = self.group_id, topic.name, one.partition_index
                is_unstable = one.error_code == UNSTABLE
                self.transactions.check_unstable(key, is_unstable, *call.commits)
                if is_unstable:
                    self.world.count(Situation.UNSTABLE_OFFSET)
                elif one.error_code:
                    raise Violation(f"{self.name}: OffsetFetch failed with {one.error_code}")
                else:
                    metadata, offset = one.metadata or "", one.committed_offset
                    self.world.model.committed.check(key, offset, metadata, *call.commits)
        self.again(1, 20)

    # ---- EndTxn

    def end(self, committed: bool) -> None:
        self.waiting = True
        assert self.producer is not None and self.attempt is not None
        attempt, self.ending = self.attempt, committed
        attempt.requested.add(committed)
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.epoch,
            committed=committed,
        )
        self.send(
            request,
            5 if self.is_version_2 else 4,
            lambda call, response: self._ended(call, response, attempt, committed),
        )

    def _ended(
        self, call: Call, response: EndTxnResponse, attempt: Attempt, committed: bool
    ) -> None:
        code = response.error_code
        if code in LATER:
            self.again()
            return
        if code:
            self.refused("EndTxn", code, call, (FENCED, INVALID_STATE, UNKNOWN_MAPPING))
            return
        self.log(f"{attempt} is {'committed' if committed else 'aborted'}")
        self.transactions.ended(attempt, committed, call.responded)
        if self.end_is_retry:
            self.world.count(Situation.END_RETRIED)
        if self.is_version_2:
            self._next_epoch(ProducerIdAndEpoch(response.producer_id, response.producer_epoch))
        self.attempt = None
        self.waiting = False
        self.begin_again()

    def _next_epoch(self, producer: ProducerIdAndEpoch) -> None:
        before = self.producer
        assert before is not None
        if producer.producer_id != before.producer_id:
            self.world.count(Situation.EPOCHS_EXHAUSTED)
            self.world.model.check_producer_of(producer.producer_id, self.transactional_id)
            if producer.epoch:
                raise Violation(f"{self.name}: a new producer id has epoch {producer.epoch}")
        elif producer.epoch != before.epoch + 1:
            raise Violation(f"{self.name}: the epoch after {before} is {producer.epoch}")
        self.producer = producer
        self.new_epoch()
