"""A broker with a fault: python -m tests.crash.cluster.broken FAULT serve ..."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from domain.cluster.registration import PartitionRegistration
from infrastructure.storage.postgresql import leases, loading, session, shared_rows, statement

#: Its parameters stay.
_NO_FENCE = (
    "fence as (update ottla_fences set seq = %b"
    " where (true or ctid = %b::text::tid) and node_id = %b and (true or session = %b)"
    " and (true or seq = %b) returning ctid::text as place, tail)"
)


def ignores_the_fence() -> None:
    """And its connections are not ended, which would show it."""
    statement.FENCE = _NO_FENCE
    leases._END_BACKENDS = "select %s::text"


def takes_a_session_after_it_was_fenced() -> None:
    condition = "node_id = %(node)s and session = any(%(own)s)"
    assert condition in session._TAKE
    any_session = "node_id = %(node)s and (true or session = any(%(own)s))"
    session._TAKE = session._TAKE.replace(condition, any_session)
    # By its lease it would notice, and by the rows of the others.
    from infrastructure.storage.postgresql.watch import Watch

    follow, beat = Watch._follow, Watch._beat

    def late(self: Watch, connection: Any) -> int:
        time.sleep(0.3)
        return follow(self, connection)

    def careless(self: Watch, connection: Any) -> None:
        self.fenced = lambda: None
        beat(self, connection)

    Watch._follow, Watch._beat = late, careless  # type: ignore[method-assign]


def takes_over_in_the_same_epoch() -> None:
    def led_by(self: PartitionRegistration, node_id: int) -> PartitionRegistration:
        return self._replace(leader=node_id)

    PartitionRegistration.led_by = led_by  # type: ignore[method-assign]


def reads_partitions_before_their_leaders() -> None:
    """What it gains is as old as its last heartbeat."""
    from infrastructure.storage.postgresql.contents import Contents
    from infrastructure.storage.postgresql.tails import tail_rows
    from infrastructure.storage.postgresql.watch import Watch
    from infrastructure.storage.repositories.leader_rows import LEADERS

    beat, gained = Watch._beat, Contents.gained
    early: dict[int, Any] = {}

    def reading(self: Watch, connection: Any) -> None:
        keys = [key for key, _ in self._contents.state.scan(LEADERS)]
        ids = frozenset(int.from_bytes(key, "big") for key in keys) - self._contents._led
        runs = loading.runs_of(connection, ids) if ids else {}
        early.update(
            {one: (runs[one], end) for one, end in loading.ends_of(connection, runs).items()}
        )
        beat(self, connection)

    def stale(
        self: Contents, connection: Any, rows: Iterable[Any], by_others: bool = False
    ) -> shared_rows.Gained:
        found = gained(self, connection, rows, by_others)
        old = {one: early[one] for one in found.partition_ids if one in early}
        runs = {**found.runs, **{one: of_log for one, (of_log, _) in old.items()}}
        ends = {**found.ends, **{one: end for one, (_, end) in old.items()}}
        tails = tail_rows(connection, {run.tail for of_log in runs.values() for run in of_log})
        return found._replace(runs=runs, ends=ends, tails=tails)

    Watch._beat, Contents.gained = reading, stale  # type: ignore[method-assign]


def responds_before_the_commit() -> None:
    from tests.crash.faults import responds_before_the_commit as hasty

    hasty()


def completes_transactions_at_once() -> None:
    """The next one may begin before the marker is in all partitions."""
    from application.transactions.cluster_ends import ClusterEnds
    from domain.transactions.decisions import complete
    from domain.transactions.transaction import Transaction

    end = ClusterEnds.end

    def hasty(self: ClusterEnds, prepared: Transaction) -> Transaction:
        ended = end(self, prepared)
        if ended.is_prepared:
            ended = complete(ended, ended.updated_ms)
            self._registry.put(ended)
        return ended

    ClusterEnds.end = hasty  # type: ignore[method-assign]


def does_not_repeat_lost_commits() -> None:
    from infrastructure.storage.postgresql.lost_commits import LostCommits

    LostCommits.repeat = lambda self, *_: None  # type: ignore[method-assign]


def does_not_wait_for_the_standby() -> None:
    from infrastructure.storage.postgresql import server

    server._SETTINGS["synchronous_commit"] = "local"


FAULTS: dict[str, Callable[[], None]] = {
    fault.__name__: fault
    for fault in (
        ignores_the_fence,
        takes_a_session_after_it_was_fenced,
        takes_over_in_the_same_epoch,
        reads_partitions_before_their_leaders,
        responds_before_the_commit,
        completes_transactions_at_once,
        does_not_repeat_lost_commits,
        does_not_wait_for_the_standby,
    )
}


def program(fault: str) -> list[str]:
    return [sys.executable, "-P", "-m", "tests.crash.cluster.broken", fault]


if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    from interfaces.main.__main__ import main
    from tests.crash.cluster.stopping import stop_when_told

    stop_when_told()
    sys.exit(main())
