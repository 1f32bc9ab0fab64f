"""InitProducerId: unique ids for idempotent producers.

Ids are taken from a block that a durable row has reserved, so most requests need no commit. After a
crash the rest of a block is never used. Brokers that share the store take their blocks in turn.

A store that has lost its newest commits may lack blocks whose ids producers still use. So ids after
a loss are above all that were given before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.ports.cluster_changes import ClusterChanges
from application.ports.cluster_repository import ClusterRepository
from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.state.commits import Commits
from application.state.runtime import Aggregates, Done, Runtime
from domain.errors import StorageFailed

BLOCK_SIZE = 1000
#: Between two losses.
IDS_OF_A_LOSS = 1 << 32
#: Ids stay below 2 ** 53: clients in JavaScript have no larger integers.
_MOST_LOSSES = 1 << 20


class InitProducerIdService(Aggregates[None, int]):
    def __init__(
        self, cluster: ClusterRepository, commits: Commits, changes: ClusterChanges
    ) -> None:
        self._cluster = cluster
        self._commits = commits
        self._changes = changes
        self._next = self._block_end = cluster.next_producer_id()
        #: One aggregate; a change is the end of the reserved block.
        self._runtime: Runtime[None, int] = Runtime(self)
        self._waiting: list[Pending[int | StorageFailed]] = []
        self._is_reserving = False

    @property
    def block_end(self) -> int:
        """All ids that producers may have are below it."""
        return self._block_end

    def new_producer_id(self) -> int | Pending[int | StorageFailed]:
        if self._next < self._block_end and not self._waiting:
            self._next += 1
            return self._next - 1
        pending: Pending[int | StorageFailed] = Pending()
        self._waiting.append(pending)
        self._reserve()
        return pending

    def _reserve(self) -> None:
        if not self._is_reserving:
            self._is_reserving = True
            self._stage_block()

    def _stage_block(self) -> None:
        """The block begins where the last one ends, which may be another broker's."""
        try:
            self._changes.check()
            end = self._first_id() + BLOCK_SIZE
        except NotInMemory as later:
            later.loading.then(lambda _: self._stage_block())
        except StorageFailed as unreadable:
            self._reserved(unreadable.as_value())
        else:
            self._runtime.persist(None, (end,), self._reserved)

    def _first_id(self) -> int:
        least = min(self._changes.losses, _MOST_LOSSES) * IDS_OF_A_LOSS
        return max(self._cluster.next_producer_id(), least)

    def _reserved(self, failure: StorageFailed | None) -> None:
        self._is_reserving = False
        waiting, self._waiting = self._waiting, []
        if failure is not None:
            for pending in waiting:
                pending.resolve(failure)
            return
        served, self._waiting = waiting[:BLOCK_SIZE], waiting[BLOCK_SIZE:]
        first, self._next = self._next, self._next + len(served)
        for producer_id, pending in enumerate(served, first):
            pending.resolve(producer_id)
        if self._waiting:
            self._reserve()

    # ---- Aggregates

    def stage(self, key: None, changes: Sequence[int], done: Done) -> None:
        self._cluster.reserve_producer_ids(changes[-1])
        self._commits.when_committed(done)

    def committed(self, key: None, changes: Sequence[int]) -> None:
        self._block_end = changes[-1]
        self._next = self._block_end - BLOCK_SIZE
