"""TransactionCoordinator: the requests of transactional producers (KIP-98, KIP-890).

Refusals are raised. A response waits for the commit of what was decided; if that fails, the client
gets COORDINATOR_NOT_AVAILABLE, and retries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import TypeVar

from application.partitions.init_producer_id import InitProducerIdService
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.pending import Pending, later
from application.state.features import Features
from application.state.runtime import if_durable
from application.transactions.ends import Ends
from application.transactions.registry import TransactionRegistry, unknown_transactional_id
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    ConcurrentTransactions,
    CoordinatorNotAvailable,
    InvalidProducerEpoch,
    InvalidRequest,
    InvalidTransactionTimeout,
    InvalidTxnState,
    NotCoordinator,
    NotEnoughReplicas,
    ProducerFenced,
    StorageFailed,
    TransactionAbortable,
)
from domain.messages.batch import NO_PRODUCER_ID
from domain.transactions import decisions
from domain.transactions.decisions import NO_GROUPS, NO_PARTITIONS, Added
from domain.transactions.transaction import (
    TV_0,
    TV_2,
    ProducerIdAndEpoch,
    TopicPartition,
    Transaction,
)

#: Kafka's words.
UNVERIFIED = "Unable to verify the partition has been added to the transaction."

#: Reads a transaction that another broker coordinates, by producer id. Raises NotInMemory.
ReadElsewhere = Callable[[int], Transaction | None]

R = TypeVar("R")
T = TypeVar("T")
Later = Pending[R | BrokerError]


class SupportedOperation(Enum):
    """What the version of a Produce or TxnOffsetCommit request supports."""

    #: The partition must be in the transaction; the client does not know TRANSACTION_ABORTABLE.
    DEFAULT_ERROR = 0
    GENERIC_ERROR_SUPPORTED = 1
    #: The request adds the partition to the transaction.
    ADD_PARTITION = 2


class TransactionCoordinator:
    def __init__(
        self,
        registry: TransactionRegistry,
        ends: Ends,
        producer_ids: InitProducerIdService,
        features: Features,
        clock: Clock,
        config: BrokerConfig,
        events: EventLog,
    ) -> None:
        self._registry = registry
        self._ends = ends
        self._producer_ids = producer_ids
        self._features = features
        self._clock = clock
        self._config = config
        self._events = events

    @property
    def max_timeout_ms(self) -> int:
        return self._config.transaction_max_timeout_ms

    # ---- InitProducerId

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdAndEpoch | None
    ) -> Later[ProducerIdAndEpoch]:
        if not 0 < timeout_ms <= self._config.transaction_max_timeout_ms:
            raise InvalidTransactionTimeout(
                f"The timeout {timeout_ms} ms of a transaction is not within 1 and "
                f"transaction.max.timeout.ms ({self._config.transaction_max_timeout_ms})"
            )
        self._registry.check_here(transactional_id)
        self._registry.check_copies()
        before = self._registry.find(transactional_id)
        if before is not None and before.is_open:
            decisions.check_expected(before, expected)
            log = partial(self._log_fenced, transactional_id, before.producer_id)
            before = self.fence(before)
            self._registry.runtime.when_durable(transactional_id, if_durable(log))
        return self._with_producer_id(
            before is None or decisions.needs_producer_id(before, expected),
            lambda new: self._initialize(transactional_id, timeout_ms, expected, new),
        )

    def _log_fenced(self, transactional_id: str, producer_id: int) -> None:
        self._events.info(
            "producer_fenced", transactional_id=transactional_id, producer_id=producer_id
        )

    def fence(self, before: Transaction) -> Transaction:
        """Aborts an open transaction; its producer is fenced."""
        version = self._features.transaction_version
        return self._ends.end(decisions.fence(before, version, self._clock.now_ms()))

    def _initialize(
        self,
        transactional_id: str,
        timeout_ms: int,
        expected: ProducerIdAndEpoch | None,
        new_producer_id: int,
    ) -> Later[ProducerIdAndEpoch]:
        self._registry.check_here(transactional_id)  # it may have moved meanwhile
        now_ms = self._clock.now_ms()
        before = self._registry.find(transactional_id) or Transaction(
            transactional_id, new_producer_id, timeout_ms, now_ms
        )
        after = decisions.init_producer_id(before, timeout_ms, expected, new_producer_id, now_ms)
        self._registry.put(after)
        return self.when_durable(transactional_id, after.producer)

    # ---- AddPartitionsToTxn, AddOffsetsToTxn, and requests that add implicitly

    def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Iterable[TopicPartition],
    ) -> Later[None]:
        self._add(transactional_id, producer, (frozenset(partitions), NO_GROUPS), TV_0)
        return self.when_durable(transactional_id, None)

    def add_offsets(
        self, transactional_id: str, producer: ProducerIdAndEpoch, group_id: str
    ) -> Later[None]:
        self._add(transactional_id, producer, (NO_PARTITIONS, frozenset({group_id})), TV_0)
        return self.when_durable(transactional_id, None)

    def verify_partition(
        self, transactional_id: str, producer: ProducerIdAndEpoch, partition: TopicPartition
    ) -> None:
        """Raises unless the partition is in the transaction."""
        added = frozenset({partition}), NO_GROUPS
        decisions.verify(self._registry.existing(transactional_id), producer, added)

    def admit_produce(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Iterable[TopicPartition],
        operation: SupportedOperation,
        read: ReadElsewhere | None = None,
    ) -> None:
        """Adds the partitions of transactional batches, or raises if they are not added.

        Without `read` it raises, too, if another broker coordinates the transaction.
        """
        added = frozenset(partitions), NO_GROUPS
        self._admit(transactional_id, producer, added, operation, NotEnoughReplicas, read)

    def admit_offsets(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        group_id: str,
        operation: SupportedOperation,
        read: ReadElsewhere | None = None,
    ) -> None:
        """Adds a group whose offsets the transaction commits, or raises if it is not added."""
        added = NO_PARTITIONS, frozenset({group_id})
        self._admit(transactional_id, producer, added, operation, CoordinatorNotAvailable, read)

    def _admit(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        added: Added,
        operation: SupportedOperation,
        retriable: type[BrokerError],
        read: ReadElsewhere | None,
    ) -> None:
        """`retriable`: for clients that do not know CONCURRENT_TRANSACTIONS in this response.

        Only the coordinator adds anything: elsewhere it has to be added already.
        """
        if not transactional_id:
            raise InvalidRequest("The transactional id is empty")
        try:
            if read is not None and not self._registry.is_here(transactional_id):
                decisions.verify(_existing(transactional_id, read, producer), producer, added)
            elif operation is SupportedOperation.ADD_PARTITION:
                self._add(transactional_id, producer, added, TV_2)
            else:
                decisions.verify(self._registry.existing(transactional_id), producer, added)
        except ProducerFenced as fenced:
            raise InvalidProducerEpoch(fenced.message) from fenced
        except ConcurrentTransactions as ending:
            if operation is SupportedOperation.ADD_PARTITION:
                raise
            raise retriable("The transaction before it is not completed yet") from ending
        except (CoordinatorNotAvailable, NotCoordinator, StorageFailed) as elsewhere:
            raise retriable(f"{UNVERIFIED} {elsewhere.message}") from elsewhere
        except TransactionAbortable as missing:
            if operation is SupportedOperation.DEFAULT_ERROR:
                raise InvalidTxnState(missing.message) from missing
            raise

    def _add(
        self, transactional_id: str, producer: ProducerIdAndEpoch, added: Added, version: int
    ) -> None:
        before = self._registry.existing(transactional_id)
        after = decisions.add(before, producer, added, version, self._clock.now_ms())
        if after is not before:
            self._registry.check_copies()
            self._registry.put(after)

    # ---- EndTxn

    def end(
        self, transactional_id: str, producer: ProducerIdAndEpoch, committed: bool, version: int
    ) -> Later[ProducerIdAndEpoch]:
        """Returns the producer's next id and epoch."""
        before = self._registry.existing(transactional_id)
        self._registry.check_copies()
        return self._with_producer_id(
            version >= TV_2 and before.is_exhausted,
            lambda new: self._end(transactional_id, producer, committed, version, new),
        )

    def _end(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        committed: bool,
        version: int,
        new_producer_id: int,
    ) -> Later[ProducerIdAndEpoch]:
        before = self._registry.existing(transactional_id)
        now_ms = self._clock.now_ms()
        prepared = decisions.prepare_end(
            before, producer, committed, version, new_producer_id, now_ms
        )
        after = before if prepared is None else self._ends.end(prepared)
        return self.when_durable(transactional_id, after.next_producer)

    # ----

    def _with_producer_id(self, is_needed: bool, go_on: Callable[[int], Later[R]]) -> Later[R]:
        if not is_needed:
            return go_on(NO_PRODUCER_ID)

        def given(producer_id: int | StorageFailed) -> Later[R]:
            if isinstance(producer_id, StorageFailed):
                raise CoordinatorNotAvailable(producer_id.message)
            return go_on(producer_id)

        new: Pending[int | StorageFailed] = later(self._producer_ids.new_producer_id())
        return decided_after(new, given)

    def when_durable(self, transactional_id: str, value: R) -> Later[R]:
        result: Later[R] = Pending()

        def done(failure: StorageFailed | None) -> None:
            result.resolve(value if failure is None else CoordinatorNotAvailable(failure.message))

        self._registry.runtime.when_durable(transactional_id, done)
        return result


def decided_after(waited: Pending[T], decide: Callable[[T], Later[R]]) -> Later[R]:
    decided: Later[R] = Pending()

    def go_on(value: T) -> None:
        try:
            decide(value).then(decided.resolve, decided.fail)
        except BrokerError as refused:
            decided.resolve(refused.as_value())
        except Exception as fault:  # of the request that waits, not of what has called back
            decided.fail(fault)

    waited.then(go_on, decided.fail)
    return decided


def _existing(
    transactional_id: str, read: ReadElsewhere, producer: ProducerIdAndEpoch
) -> Transaction:
    found = read(producer.producer_id)
    if found is None:
        raise unknown_transactional_id(transactional_id)
    return found
