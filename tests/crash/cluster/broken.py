"""In the broker's process: faults in its fencing, or with a standby, by patches of its code."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

from domain.cluster.registration import PartitionRegistration
from infrastructure.storage.postgresql import leases, loading, session, shared_rows, statement
from tests.crash.cluster import attempts, history

#: Kinds of findings (`kind_of`): two brokers write one log, or what was acknowledged is lost.
ALREADY_THERE = "an entry that is there already"
TWO_WRITERS = frozenset({
    history.LOST, history.DOUBLED, history.REORDERED, history.DIFFERENT, history.GAP,
    history.EPOCH_FELL, history.WENT_BACK, history.TWO_LEADERS, ALREADY_THERE,
    attempts.LOST, attempts.DOUBLED, attempts.REORDERED, attempts.SPLIT, attempts.ABORTED_READ,
})  # fmt: skip
LOSSES = frozenset({
    history.LOST, history.DIFFERENT, history.WENT_BACK,
    attempts.LOST, attempts.SPLIT, attempts.WRONG_OFFSET,
})  # fmt: skip
TORN = frozenset({
    attempts.LOST, attempts.DOUBLED, attempts.REORDERED, attempts.SPLIT, attempts.ABORTED_READ,
    attempts.HANGING, attempts.WRONG_OFFSET,
})  # fmt: skip
LOGGED = "log of broker"
_ALREADY_THERE = re.compile("duplicate key|has a batch behind")
_PARAMETER = re.compile(r"%[bs(]")
#: What SQL says of a session, and the same with all of its parameters for any.
_OWN = "node_id = %(node)s and session = any(%(own)s)"
_ANY = "node_id = %(node)s and (true or session = any(%(own)s))"
_AS_IT_WAS_LEFT = "ctid = %b::text::tid and node_id = %b and session = %b and seq = %b"
_AS_IT_IS = "(true or ctid = %b::text::tid) and node_id = %b and (true or session = %b or seq = %b)"


def kind_of(finding: str) -> str:
    if finding.startswith(LOGGED):
        return ALREADY_THERE if _ALREADY_THERE.search(finding) else LOGGED
    return finding.partition(":")[0]


class Outdated(Exception):
    """The broker has not any more what a fault replaces."""


def patch(owner: Any, name: str, new: object) -> None:
    check(owner, name, new)
    setattr(owner, name, new)


def check(owner: Any, name: str, new: object) -> None:
    """Raises Outdated unless it is there, in a class itself, with as many parameters."""
    if name not in vars(owner):
        raise Outdated(f"{owner.__name__} has no {name}")
    old = vars(owner)[name]
    if callable(old) and callable(new) and _count(old) != _count(new):
        raise Outdated(f"{name} of {owner.__name__} has {_count(old)} parameters")
    if isinstance(old, str) and isinstance(new, str):
        if old == new:
            raise Outdated(f"{name} of {owner.__name__} stays as it is")
        if len(_PARAMETER.findall(old)) != len(_PARAMETER.findall(new)):
            raise Outdated(f"{name} of {owner.__name__} has other parameters")


def _count(call: Callable[..., object]) -> int:
    return len(inspect.signature(call).parameters)


def replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise Outdated(f"{old!r} is not there once")
    return text.replace(old, new)


def fence_of_any_session() -> str:
    return replaced(statement.FENCE, _AS_IT_WAS_LEFT, _AS_IT_IS)


def take_of_any_session() -> str:
    return replaced(session._TAKE, _OWN, _ANY)


def ignores_the_fence() -> None:
    """And its connections are not ended, which would show it."""
    patch(statement, "FENCE", fence_of_any_session())
    patch(leases, "_END_BACKENDS", "select %s::text")


def takes_a_session_after_it_was_fenced() -> None:
    patch(session, "_TAKE", take_of_any_session())
    # By its lease it would notice, and by the rows of the others.
    from infrastructure.storage.postgresql.watch import Watch

    follow, beat = Watch._follow, Watch._beat

    def late(self: Watch, connection: Any) -> int:
        time.sleep(0.3)
        return follow(self, connection)

    def careless(self: Watch, connection: Any) -> None:
        self.fenced = lambda: None
        beat(self, connection)

    patch(Watch, "_follow", late)
    patch(Watch, "_beat", careless)


def takes_over_in_the_same_epoch() -> None:
    def led_by(self: PartitionRegistration, node_id: int) -> PartitionRegistration:
        return self._replace(leader=node_id)

    patch(PartitionRegistration, "led_by", led_by)


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
        tails = tail_rows(connection, {run.tail for of_log in runs.values() for run in of_log})
        ends = loading.ends_of(connection, runs, tails)
        early.update({one: (runs[one], end) for one, end in ends.items()})
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

    patch(Watch, "_beat", reading)
    patch(Contents, "gained", stale)


def responds_before_the_commit() -> None:
    from application.state.commits import Commits
    from tests.crash.faults import hasty

    patch(Commits, "wait", hasty(Commits.wait))


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

    patch(ClusterEnds, "end", hasty)


def does_not_repeat_lost_commits() -> None:
    from infrastructure.storage.postgresql.lost_commits import LostCommits

    patch(LostCommits, "repeat", lambda self, connection, fence, newest: None)


def does_not_wait_for_the_standby() -> None:
    from infrastructure.storage.postgresql import server

    patch(server, "_SETTINGS", {**server._SETTINGS, "synchronous_commit": "local"})


#: Each with the kinds of findings that may show it.
FAULTS: dict[str, tuple[Callable[[], None], frozenset[str]]] = {
    fault.__name__: (fault, kinds)
    for fault, kinds in (
        (ignores_the_fence, TWO_WRITERS),
        (takes_a_session_after_it_was_fenced, TWO_WRITERS),
        (takes_over_in_the_same_epoch, frozenset({history.TWO_LEADERS})),
        (reads_partitions_before_their_leaders, TWO_WRITERS | {history.UNREADABLE}),
        (responds_before_the_commit, LOSSES),
        (completes_transactions_at_once, TORN),
        (does_not_repeat_lost_commits, LOSSES),
        (does_not_wait_for_the_standby, LOSSES),
    )
}
