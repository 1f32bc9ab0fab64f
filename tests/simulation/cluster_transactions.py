"""Transactional producers of several brokers, which stop, die and come back, by a seed.

The store goes back only to what lacks nothing that brokers share, and while all of them are alive:
then nothing may be lost, and clients notice nothing but refusals of what comes before their
transactions are repeated, which are counted.

At the end each transaction is committed in all of its partitions, or in none, once in each; the
offsets of a group are those of the last committed one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from application.background.loaded import loaded
from domain.messages.batch import CONTROL, HEADER_BYTES, TRANSACTIONAL, RecordBatch
from domain.messages.control import read_end_marker
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from infrastructure.storage.repositories.scopes import MARKERS
from tests.crash.cluster.attempts import Outcome, expected_offset
from tests.fakes.batches import record_batch
from tests.simulation.actors.transactional_client import Attempt, TransactionalClient
from tests.simulation.model import Violation
from tests.simulation.several_brokers import NODES, SeveralBrokers

CLIENTS = 3
#: No transaction of the others times out.
SHORT_TIMEOUT_MS, LONG_TIMEOUT_MS = 200, 900_000
SETTLING_STEPS = 20_000


class ClusterTransactions(SeveralBrokers):
    partitions = 4
    steps = 3000
    dies_share = 0.0
    mishap_share = 0.006
    settings: Mapping[str, str] = {
        "default_replication_factor": "2",
        "offsets_topic": "on",
        "offsets_topic_num_partitions": "3",
        "transaction_state_log_num_partitions": "3",
        "transaction_abort_timed_out_transaction_cleanup_interval_ms": "50",
    }
    #: Of a world.
    lasts_ms = 800_000

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._spread_coordinators()
        self.is_settling = False
        self.clients = [
            TransactionalClient(self, number, LONG_TIMEOUT_MS if number else SHORT_TIMEOUT_MS)
            for number in range(CLIENTS)
        ]
        more = (
            (self._client, 40),
            (self._pass, 30),
            (self._end_commit, 10),
            (self._replicate, 1),
            (self._go_back, 3),
        )
        self.actions += tuple(call for call, times in more for _ in range(times))

    def _spread_coordinators(self) -> None:
        """The first broker has created both topics while it was alone, and leads all of them."""
        nodes = [*NODES, *NODES]
        places = [
            ((name, index), nodes[index + first : index + first + 2])
            for first, name in enumerate((OFFSETS_TOPIC, TRANSACTION_TOPIC))
            for index in range(len(NODES))
        ]
        broker = self.store.brokers[NODES[0]]
        reassign = partial(broker.broker.topics.replicas.reassign, places)
        broker.core.background.run(loaded(reassign)).then(lambda _: None)
        self.store.advance(100)
        self._replicate()

    def _mishap(self) -> None:
        # Who is fenced before it has noticed may lose what it has acknowledged.
        if not self.notices:
            super()._mishap()

    @property
    def notices(self) -> bool:
        """The store went back, and a broker did not notice it yet."""
        return any(one.commit.is_to_check for one in self.store.brokers.values())

    def _go_back(self) -> None:
        store, past = self.store, self.standby
        all_live = len(store.brokers) == len(NODES) and not any(map(store.members.is_fenced, NODES))
        if (
            all_live
            and past.seqs != store.database.seqs
            and not self.notices
            and not store.database.lacks_shared(past)
        ):
            super()._go_back()

    def _start_again(self, node_id: int) -> None:
        raise Violation(f"{node_id} starts again")

    def _client(self) -> None:
        self.random.choice(self.clients).step()

    def _settle(self) -> None:
        self.is_settling = True
        super()._settle()
        for step in range(SETTLING_STEPS):
            if all(one.is_over for one in self.clients):
                break
            self._client()
            if step % 3 == 0:
                self.store.advance(5)
        else:
            raise Violation("transactions do not end")
        self.store.advance(3000, step_ms=50)
        if self.store.data.tables.get(MARKERS):
            raise Violation("markers are still requested")
        if self.store.data.tables.get("pending_offsets"):
            raise Violation("offsets are still pending")

    # ---- what must be true

    def _check_logs(self) -> None:
        super()._check_logs()
        found = [self._outcomes(index) for index in range(self.partitions)]
        for client in self.clients:
            for attempt in client.attempts:
                self._check(attempt, found)
            self._check_offset(client)

    def _outcomes(self, index: int) -> dict[bytes, list[Outcome]]:
        """By the records of a batch, which are written once."""
        opened: dict[int, list[bytes]] = {}
        found: dict[bytes, list[Outcome]] = {}
        markers: Counter[int] = Counter()
        stored = self.store.data.partitions.get(self.topic.partition_ids[index])
        for data in stored.batches if stored else ():
            batch = RecordBatch(memoryview(data))
            if not batch.attributes & TRANSACTIONAL:
                continue
            if not batch.attributes & CONTROL:
                opened.setdefault(batch.producer_id, []).append(data[HEADER_BYTES:])
                continue
            marker = read_end_marker(batch)
            assert marker is not None
            markers[batch.producer_id] += 1
            outcome = Outcome.COMMITTED if marker.committed else Outcome.ABORTED
            for records in opened.pop(batch.producer_id, ()):
                found.setdefault(records, []).append(outcome)
        if opened:
            raise Violation(f"open transactions in {index}: {sorted(opened)}")
        added = Counter(
            attempt.producer_id
            for client in self.clients
            for attempt in client.attempts
            if index in attempt.indexes
        )
        if markers - added:
            raise Violation(f"too many markers in {index}: {markers - added}")
        return found

    def _check(self, attempt: Attempt, found: list[dict[bytes, list[Outcome]]]) -> None:
        records = bytes(record_batch([attempt.name]))[HEADER_BYTES:]
        seen = [found[index].get(records, []) for index in attempt.sent]
        kinds = {outcome for outcomes in seen for outcome in outcomes}
        if len(kinds) > 1 or any(len(outcomes) > 1 for outcomes in seen):
            raise Violation(f"{attempt.name} ended as {seen}")
        if attempt.outcome is Outcome.UNKNOWN:
            attempt.outcome = next(iter(kinds))
        if attempt.outcome is Outcome.COMMITTED and not all(seen):
            raise Violation(f"{attempt.name} is lost: {seen}")
        if kinds - {attempt.outcome}:
            raise Violation(f"{attempt.name} ended as {kinds}, not {attempt.outcome}")

    def _check_offset(self, client: TransactionalClient) -> None:
        expected = expected_offset(client.attempts)
        found = [one.offset for one in self.offsets_of(client.group_id)]
        if found != ([] if expected is None else [expected]):
            raise Violation(f"{client.group_id} has offset {found}, not {expected}")
