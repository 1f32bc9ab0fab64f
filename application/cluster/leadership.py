"""Leadership: the partitions that this broker leads: how it begins, and how it hands them over.

    begin       raises the leader epoch of all that it leads: the store may have lost commits of its
                last run. Again when it was fenced for a moment.
    go on       after a standby was promoted it raises them, too: the standby may lack that others
                have led meanwhile, and clients know their higher epochs
    hand over   the snapshot and the registration with the new leader, in one commit; `leave`
      durable:  all brokers learn the new leader by the registration
      failed:   `stay`: it leads again

A partition leaves a living broker by its own commit only. That commit comes after all that it has
appended, and after `leave` it appends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice

from application.background.job import COMMIT, SLICE, Job, Outcome
from application.background.loaded import loaded
from application.background.runner import Runner
from application.cluster.registrations import Changed, Registrations
from application.cluster.shared_placement import SharedPlacement
from application.ports.cluster_changes import ClusterChanges
from application.ports.membership import Membership
from application.ports.partition_repository import PartitionRepository
from application.ports.pending import Pending, resolved
from application.ports.registration_repository import RegistrationChange
from application.state.catalog import Catalog
from domain.cluster.nodes import ids_of, staying
from domain.cluster.registration import PartitionRegistration, loads_of

#: Some milliseconds of the loop.
PARTITIONS_PER_COMMIT = 1000

#: What this broker would change, by the newest registrations.
Decide = Callable[[], Sequence[RegistrationChange]]


class Leadership:
    def __init__(
        self,
        placement: SharedPlacement,
        registrations: Registrations,
        membership: Membership,
        cluster_changes: ClusterChanges,
        catalog: Catalog,
        partitions: PartitionRepository,
        background: Runner,
    ) -> None:
        self._placement = placement
        self._registrations = registrations
        self._membership = membership
        self._cluster_changes = cluster_changes
        self._catalog = catalog
        self._partitions = partitions
        self._background = background
        self._node_id = placement.node_id
        self._is_stopping = False
        #: So many standbys were promoted.
        self._promotions = 0
        self._when_begun: list[Callable[[], None]] = []
        registrations.on_changed(self._registrations_changed)
        cluster_changes.on_promoted(self._promoted)
        membership.on_changed(self._nodes_changed)

    # ---- begin

    def begin(self) -> Pending[None]:
        """Resolved when this broker leads what its registrations say.

        As other brokers see it, it is fenced until it is announced, and they may take over what it
        led: it begins then.
        """
        if self._placement.has_begun:
            return resolved(None)
        begun: Pending[None] = Pending()
        self._when_begun.append(lambda: begun.resolve(None))
        self._background.start(self._begin)
        return begun

    def _begin(self) -> Job[None]:
        def waits() -> bool:
            return not (self._placement.has_begun or self._placement.is_fenced)

        if (yield from self._raise_all_epochs(waits)):
            self._begun()

    def _promoted(self) -> None:
        self._promotions += 1
        if self._placement.has_begun:
            self._background.start(self._go_on)

    def _go_on(self) -> Job[None]:
        yield from self._raise_all_epochs(lambda: self._placement.has_begun)

    def _raise_all_epochs(self, is_due: Callable[[], bool]) -> Job[bool]:
        """False: it is not due any more. All again if a standby was promoted meanwhile."""
        raised: set[int] = set()
        promotions = self._promotions
        while is_due():
            is_done = yield from self._raise_epochs(raised)
            if promotions != self._promotions:
                promotions = self._promotions
                raised.clear()
            elif is_done:
                return True
        return False

    def _raise_epochs(self, raised: set[int]) -> Job[bool]:
        """Of a thousand partitions that are not among `raised`. True: these were the last."""
        yield SLICE
        staged = yield from loaded(partial(self._stage_epochs, raised))
        if (yield COMMIT) is not None:
            return False
        raised.update(staged)
        return len(staged) < PARTITIONS_PER_COMMIT

    def _stage_epochs(self, raised: set[int]) -> list[int]:
        self._cluster_changes.check()
        left = (each for each in self._own() if each[0] not in raised)
        changes = [(each, one.raised()) for each, one in islice(left, PARTITIONS_PER_COMMIT)]
        self._registrations.save(changes)
        return [each for each, _ in changes]

    def _begun(self) -> None:
        if not self._placement.is_fenced:
            self._placement.begin()
            calls, self._when_begun = self._when_begun, []
            for call in calls:
                call()
            self._background.start(self._follow_targets)

    def _own(self) -> list[tuple[int, PartitionRegistration]]:
        """By the newest registrations."""
        newest = self._registrations.newest()
        return [(each, one) for each, one in newest if one.leader == self._node_id]

    # ---- hand over

    def hand_over_all(self) -> Pending[Outcome]:
        """At an orderly stop: to living replicas, or any living broker, or to no broker.

        Nothing waits for the announcement: the store may be away. What others give to this broker
        before they know it, it hands over again.
        """
        self._is_stopping = True
        self._membership.announce_stop()
        return self._background.run(self._leave_all())

    def _leave_all(self) -> Job[Outcome]:
        while self._placement.has_begun and self._others() and self._own():
            failure = yield from self._hand_over(self._leaving)
            if failure is not None:
                return failure
        return None

    def _others(self) -> list[int]:
        return sorted(self._available() - {self._node_id})

    def _available(self) -> set[int]:
        return ids_of(staying(self._membership.brokers()))

    def _leaving(self) -> list[RegistrationChange]:
        others = self._others()
        if not others:
            return []
        loads = loads_of(others, self._registrations.values())
        return [(each, one.left(loads)) for each, one in self._own()[:PARTITIONS_PER_COMMIT]]

    def _leave_again(self) -> Job[None]:
        """What another broker has given to this one, before it knew that it stops."""
        yield SLICE
        yield from self._leave_all()

    def _registrations_changed(self, changes: Sequence[Changed]) -> None:
        own = [one for _, _, one in changes if one is not None and one.leader == self._node_id]
        if any(one.target for one in own):
            self._background.start(self._follow_targets)
        if own and self._is_stopping:
            self._background.start(self._leave_again)

    def _nodes_changed(self) -> None:
        if self._placement.has_begun:
            self._background.start(self._follow_targets)
        elif not self._placement.is_fenced:
            self._background.start(self._begin)

    def _follow_targets(self) -> Job[None]:
        # First: all changes of a failed commit are given up only then.
        yield SLICE
        while self._placement.has_begun and self._at_targets():
            yield from self._hand_over(self._at_targets)
            yield SLICE

    def _at_targets(self) -> list[RegistrationChange]:
        available = self._available()
        targeted = [(each, one) for each, one in self._own() if one.target]
        decided = ((each, one, one.at_target(available)) for each, one in targeted)
        changes = ((each, after) for each, one, after in decided if after != one)
        return list(islice(changes, PARTITIONS_PER_COMMIT))

    def _hand_over(self, decide: Decide) -> Job[Outcome]:
        yield from loaded(partial(self._stage, decide))
        # Also with nothing to change: the right ends with the commit.
        failure: Outcome = yield COMMIT
        return failure

    def _stage(self, decide: Decide) -> None:
        self._cluster_changes.check()
        changes = decide()
        moving = [
            each for each, after in changes if after is not None and after.leader != self._node_id
        ]
        for partition in map(self._catalog.partition_by_id, moving):
            if partition and partition.broken is None and partition.bytes_since_snapshot:
                self._partitions.snapshot(partition)
        self._registrations.save(changes, partial(self._handed_over, moving))
        self._placement.leave(moving)

    def _handed_over(self, moving: Sequence[int], failure: Outcome) -> None:
        if failure is not None:
            self._placement.stay(moving)
