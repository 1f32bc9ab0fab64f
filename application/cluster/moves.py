"""Moves: elections and reassignments that clients ask for.

Any broker sets the target of a registration; the leader follows it and hands the partition over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from application.background.job import COMMIT, Job
from application.background.runner import Runner
from application.cluster.registrations import Registrations
from application.ports.cluster_changes import ClusterChanges
from application.ports.membership import Membership
from application.ports.pending import Pending
from application.ports.registration_repository import RegistrationChange
from domain.cluster.nodes import ids_of, staying
from domain.cluster.registration import PartitionRegistration
from domain.cluster_errors import (
    ElectionNotNeeded,
    NoReassignmentInProgress,
    PreferredLeaderNotAvailable,
)
from domain.errors import (
    BrokerError,
    InvalidReplicationFactor,
    RequestTimedOut,
    UnknownTopicOrPartition,
)

#: Of each partition; None: done.
Outcomes = dict[int, BrokerError | None]


class Moves:
    def __init__(
        self,
        registrations: Registrations,
        membership: Membership,
        cluster_changes: ClusterChanges,
        background: Runner,
    ) -> None:
        self._registrations = registrations
        self._membership = membership
        self._cluster_changes = cluster_changes
        self._background = background
        #: Called at each change, until they return True.
        self._watches: list[Callable[[], bool]] = []
        registrations.on_changed(lambda _: self._watch())

    def _watch(self) -> None:
        self._watches = [each for each in self._watches if not each()]

    def check(self) -> None:
        """Before `elect_preferred` or `reassign`, in the same call. May raise NotInMemory
        (`ClusterChanges.check`).
        """
        self._cluster_changes.check()

    def _change(self, decide: Callable[[Outcomes], list[RegistrationChange]]) -> Job[Outcomes]:
        """The outcomes, and StorageFailed of partitions that are changed, if that is lost."""
        outcomes: Outcomes = {}
        changes = decide(outcomes)
        self._registrations.save(changes)
        failure = yield COMMIT
        return {**outcomes, **dict.fromkeys((each for each, _ in changes), failure)}

    # ---- elections

    def elect_preferred(self, partition_ids: Sequence[int], timeout_ms: int) -> Pending[Outcomes]:
        """Resolved when their preferred leaders lead."""
        return self._background.run(self._elect(partition_ids, timeout_ms))

    def _elect(self, partition_ids: Sequence[int], timeout_ms: int) -> Job[Outcomes]:
        outcomes = yield from self._change(partial(self._ask, partition_ids))
        asked = [each for each, error in outcomes.items() if error is None]
        if asked:
            yield self._done(asked, timeout_ms)
        return {**outcomes, **{each: self._outcome(each) for each in asked}}

    def _ask(self, partition_ids: Sequence[int], refused: Outcomes) -> list[RegistrationChange]:
        available = ids_of(staying(self._membership.brokers()))
        changes: list[RegistrationChange] = []
        for each in partition_ids:
            one = self._registrations.find(each)
            if one is None:
                refused[each] = UnknownTopicOrPartition()
            elif one.leader == one.preferred:
                refused[each] = ElectionNotNeeded()
            elif one.preferred not in available or one.is_reassigned:
                refused[each] = _not_available()
            else:
                changes.append((each, one._replace(target=one.replicas)))
        return changes

    def _done(self, asked: Sequence[int], timeout_ms: int) -> Pending[None]:
        """Resolved when nothing is under way any more, or the time is over."""
        done: Pending[None] = Pending()
        timer = self._background.after_ms(timeout_ms, lambda: end())

        def end() -> None:
            timer.cancel()
            if not done.resolved:
                done.resolve(None)

        def check() -> bool:
            if not done.resolved and not any(map(self._is_under_way, asked)):
                end()
            return done.resolved

        self._watches.append(check)
        check()
        return done

    def _is_under_way(self, partition_id: int) -> bool:
        one = self._registrations.get(partition_id)
        return one is not None and bool(one.target)

    def _outcome(self, partition_id: int) -> BrokerError | None:
        one = self._registrations.get(partition_id)
        if one is None:
            return UnknownTopicOrPartition()
        if one.target:
            return RequestTimedOut("The leader has not handed the partition over yet.")
        return None if one.leader == one.preferred else _not_available()

    # ---- reassignments

    def reassign(
        self, requested: Mapping[int, Sequence[int] | None], may_change_factor: bool
    ) -> Pending[Outcomes]:
        """The new replicas of each partition; None: cancels its reassignment."""
        return self._background.run(
            self._change(partial(self._reassigned, requested, may_change_factor))
        )

    def _reassigned(
        self,
        requested: Mapping[int, Sequence[int] | None],
        may_change_factor: bool,
        refused: Outcomes,
    ) -> list[RegistrationChange]:
        changes: list[RegistrationChange] = []
        for each, replicas in requested.items():
            one = self._registrations.find(each)
            if one is None:
                refused[each] = UnknownTopicOrPartition()
            elif replicas is None and not one.is_reassigned:
                refused[each] = NoReassignmentInProgress()
            else:
                target = tuple(one.replicas if replicas is None else replicas)
                before = len(one.target or one.replicas)
                if not may_change_factor and replicas is not None and len(target) != before:
                    refused[each] = InvalidReplicationFactor(
                        f"The replication factor is changed from {before} to {len(target)}"
                    )
                else:
                    changes.append((each, _to(one, target)))
        return changes

    def reassignments(self) -> dict[int, PartitionRegistration]:
        """Those under way."""
        return {each: one for each, one in self._registrations.items() if one.is_reassigned}


def _to(one: PartitionRegistration, target: tuple[int, ...]) -> PartitionRegistration:
    if target == one.replicas:
        return one._replace(target=())
    asked = one._replace(target=target)
    return asked.at_target(()) if one.leader in target else asked


def _not_available() -> BrokerError:
    return PreferredLeaderNotAvailable("The preferred leader was not available.")
