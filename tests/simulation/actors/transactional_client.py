"""A transactional producer of several brokers, by requests of transaction version 1.

It has one request in flight. A response may be lost, also with its broker: then the request is
repeated. Sometimes the client ends, and another one with the same transactional id begins.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from interfaces.kafka.wire.messages.add_partitions_to_txn import AddPartitionsToTxnTopic
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from interfaces.kafka.wire.schema import Request
from tests.crash.cluster.attempts import Attempt as AnyAttempt
from tests.crash.cluster.attempts import Outcome
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient
from tests.fakes.results import error_codes
from tests.fakes.shared_store import SharedBroker
from tests.fakes.structs import request_for
from tests.simulation.model import Violation

if TYPE_CHECKING:
    from tests.simulation.cluster_transactions import ClusterTransactions

#: Clients repeat requests with these.
OF_COORDINATORS = {14, 15, 16, 51}
OF_LEADERS = {5, 6, 19, 56}
#: The transaction has timed out.
FENCED = {47, 48, 49, 90}
#: To the first batch of a transaction in a partition, or its offsets in a group, by a broker that
#: reads the transaction before its coordinator has repeated lost commits. 49: these had its
#: transactional id, too.
NOT_REPEATED_YET = {47, 48, 49}
REFUSED_EARLY = "transactions that are refused before commits are repeated"
NONE: frozenset[int] = frozenset()
#: Steps until a response is taken as lost.
PATIENCE = 100
LOST_SHARE, RESTARTED_SHARE = 0.03, 0.02

Where = Callable[[SharedBroker], int]
#: A request, its version, and where it is sent; its response or None.
Asking = Generator[tuple[Request, int, Where] | None, Any, Any]


class Attempt(AnyAttempt):
    def __init__(self, name: str, indexes: list[int], offset: int | None, producer_id: int) -> None:
        super().__init__(name, indexes, offset)
        self.producer_id = producer_id
        #: Partitions to which it was sent.
        self.sent: list[int] = []


class Sent(NamedTuple):
    """When a request was sent."""

    #: Its broker does not coordinate the transaction.
    is_elsewhere: bool = False
    #: The coordinator had not noticed that the store went back.
    is_behind: bool = False
    #: How often the store had gone back.
    went_back: int = 0


class Restarted(Exception):
    """The client has ended, or its producer is fenced."""


class TransactionalClient:
    def __init__(self, world: ClusterTransactions, number: int, timeout_ms: int) -> None:
        self.world, self.random = world, world.random
        self.transactional_id, self.group_id = f"tx{number}", f"g{number}"
        self._timeout_ms = timeout_ms
        self.attempts: list[Attempt] = []
        self.is_over = False
        self._fields: dict[str, Any] = {}
        self._sequences: dict[int, int] = {}
        self._life = self._live()
        self._next = next(self._life)
        self._pending: tuple[SharedBroker, FakeClient] | None = None
        self._left = 0
        self._sent = Sent()

    # ---- one request at a time

    def step(self) -> None:
        if self.is_over:
            return
        if self._pending is None:
            self._send()
            return
        broker, client = self._pending
        self._left -= 1
        responses = client.responses()
        is_there = self.world.store.brokers.get(broker.config.node_id) is broker
        if responses and self.random.random() >= LOST_SHARE:
            self._resume(responses[0])
        elif responses or not is_there or not self._left:
            self._resume(None)

    def _send(self) -> None:
        if self._next is None:
            self._resume(None)
            return
        request, version, where = self._next
        brokers = self.world.store.brokers
        broker = brokers.get(where(self.random.choice(list(brokers.values()))))
        if broker is None:
            self._resume(None)
            return
        client = broker.client()
        client.send(request, version)
        self._pending, self._left = (broker, client), PATIENCE
        is_behind = any(map(self._is_behind, brokers.values()))
        self._sent = Sent(not self._coordinates(broker), is_behind, self.world.went_back)

    def _resume(self, response: Any) -> None:
        self._pending = None
        try:
            self._next = self._life.send(response)
        except StopIteration:
            self.is_over = True

    def _coordinates(self, broker: SharedBroker) -> bool:
        return broker.broker.transactions.coordinators.is_here(self.transactional_id)

    def _is_behind(self, broker: SharedBroker) -> bool:
        return broker.commit.is_to_check and self._coordinates(broker)

    @property
    def _is_early(self) -> bool:
        """The broker may have read the transaction before its coordinator repeated the commits that
        began it.
        """
        sent = self._sent
        return sent.is_elsewhere and (sent.is_behind or sent.went_back != self.world.went_back)

    def _asked(
        self,
        request: Request,
        version: int,
        where: Where,
        again: Set[int],
        refused_early: Set[int] = NONE,
    ) -> Asking:
        """Until it succeeds. Raises Restarted."""
        while True:
            if self.random.random() < RESTARTED_SHARE and not self.world.is_settling:
                raise Restarted
            response = yield request, version, where
            codes = error_codes(response) - {0} if response is not None else {-1}
            if not codes:
                return response
            if codes & self._fenced:
                raise Restarted
            if codes <= refused_early and self._is_early:
                self.world.happened[REFUSED_EARLY] += 1
                raise Restarted
            if response is not None and codes - again:
                raise Violation(f"{self.transactional_id}: {type(request).__name__}: {codes}")

    def _of_coordinator(self, request: Request, version: int = 3) -> Asking:
        def where(broker: SharedBroker) -> int:
            return broker.broker.transactions.coordinators.node_id(self.transactional_id)

        return self._asked(request, version, where, OF_COORDINATORS)

    @property
    def _fenced(self) -> set[int]:
        return FENCED if self._timeout_ms < self.world.lasts_ms else set()

    # ---- what it does

    def _live(self) -> Asking:
        while not self.world.is_settling:
            with suppress(Restarted):
                yield from self._init()
                while not self.world.is_settling:
                    yield from self._transaction()
        yield from self._init(may_restart=False)  # what is open is aborted

    def _init(self, may_restart: bool = True) -> Asking:
        request = request_for(
            "init_producer_id",
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=-1,
            producer_epoch=-1,
        )
        while True:
            try:
                response = yield from self._of_coordinator(request, 4)
                break
            except Restarted:
                if may_restart:
                    raise
        self._fields = {
            "transactional_id": self.transactional_id,
            "producer_id": response.producer_id,
            "producer_epoch": response.producer_epoch,
        }
        self._sequences = {}

    def _transaction(self) -> Asking:
        world = self.world
        indexes = self.random.sample(range(world.partitions), self.random.randint(1, 3))
        number = len(self.attempts) + 1
        offset = number if self.random.random() < 0.5 else None
        name = f"{self.transactional_id} {number}"
        attempt = Attempt(name, indexes, offset, self._fields["producer_id"])
        self.attempts.append(attempt)
        explicit = {f"v3_and_below_{key}": value for key, value in self._fields.items()}
        topic = AddPartitionsToTxnTopic(name="t", partitions=indexes)
        yield from self._of_coordinator(
            request_for("add_partitions_to_txn", **explicit, v3_and_below_topics=[topic])
        )
        for index in indexes:
            yield from self._produce(attempt, index)
        if offset is not None:
            yield from self._commit_offset(offset)
        committed = self.random.random() < 0.7
        if committed:
            attempt.outcome = Outcome.UNKNOWN
        yield from self._of_coordinator(request_for("end_txn", **self._fields, committed=committed))
        attempt.outcome = Outcome.COMMITTED if committed else Outcome.ABORTED
        world.happened[f"{attempt.outcome.value} transactions"] += 1

    def _produce(self, attempt: Attempt, index: int) -> Asking:
        sequence = self._sequences.get(index, 0)
        attempt.sent.append(index)
        batch = record_batch(
            [attempt.name],
            producer_id=self._fields["producer_id"],
            epoch=self._fields["producer_epoch"],
            sequence=sequence,
            transactional=True,
        )
        data = PartitionProduceData(index=index, records=memoryview(batch))
        request = ProduceRequest(
            acks=-1,
            transactional_id=self.transactional_id,
            topic_data=[TopicProduceData(name="t", partition_data=[data])],
        )
        partition_id = self.world.topic.partition_ids[index]
        # The first one of the transaction in this partition, until it is accepted.
        yield from self._asked(
            request,
            9,
            lambda broker: broker.leader(partition_id)[0],
            OF_LEADERS,
            NOT_REPEATED_YET,
        )
        self._sequences[index] = sequence + 1

    def _commit_offset(self, offset: int) -> Asking:
        of_group = {**self._fields, "group_id": self.group_id}
        yield from self._of_coordinator(request_for("add_offsets_to_txn", **of_group))
        partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
        topics = [{"name": "t", "partitions": [partition]}]
        yield from self._asked(
            request_for("txn_offset_commit", **of_group, topics=topics),
            3,
            lambda broker: broker.broker.groups.coordinators.node_id(self.group_id),
            OF_COORDINATORS,
            NOT_REPEATED_YET,
        )
