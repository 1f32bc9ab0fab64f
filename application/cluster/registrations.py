"""Registrations: leader and replicas of each partition, as all brokers see them in their store.

A change is made with the right of `ClusterChanges`, so that it is decided from the newest rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from application.ports.cluster_changes import ClusterChanges
from application.ports.registration_repository import (
    RegistrationChange,
    RegistrationRepository,
)
from application.state.commits import Commits
from application.state.notifying import notify_each
from application.state.runtime import Aggregates, Done, Runtime, ignore
from domain.cluster.registration import PartitionRegistration


class Changed(NamedTuple):
    """A registration that this broker or another one has changed."""

    partition_id: int
    before: PartitionRegistration | None
    after: PartitionRegistration | None


WhenChanged = Callable[[Sequence[Changed]], None]


class Registrations(Aggregates[int, RegistrationChange]):
    """The changes of a call are one aggregate: there may be a thousand, with one callback."""

    def __init__(
        self,
        repository: RegistrationRepository,
        commits: Commits,
        cluster_changes: ClusterChanges,
    ) -> None:
        self._repository = repository
        self._commits = commits
        self._cluster_changes = cluster_changes
        self._durable = dict(repository.load())
        #: The newest change of a partition in flight, and its aggregate.
        self._in_flight: dict[int, tuple[int, PartitionRegistration | None]] = {}
        self._calls = 0
        self._when_changed: list[WhenChanged] = []
        self.runtime: Runtime[int, RegistrationChange] = Runtime(self)
        #: Of one partition, as all brokers see it.
        self.get = self._durable.get
        repository.follow(self._apply)

    def __iter__(self) -> Iterator[int]:
        return iter(self._durable)

    def items(self) -> list[tuple[int, PartitionRegistration]]:
        return list(self._durable.items())

    def values(self) -> list[PartitionRegistration]:
        return list(self._durable.values())

    def find(self, partition_id: int) -> PartitionRegistration | None:
        """The newest one, which may be in flight: for decisions."""
        in_flight = self._in_flight.get(partition_id)
        return self._durable.get(partition_id) if in_flight is None else in_flight[1]

    def newest(self) -> Iterator[tuple[int, PartitionRegistration]]:
        """Of all partitions, as `find`."""
        for partition_id in self:
            registration = self.find(partition_id)
            if registration is not None:
                yield partition_id, registration

    def save(self, changes: Sequence[RegistrationChange], then: Done = ignore) -> None:
        """Stages changes, after `ClusterChanges.check` in the same call."""
        if changes:
            self._calls += 1
            first = self._cluster_changes.first_epoch
            newest = [(each, self._with_epoch(each, after, first)) for each, after in changes]
            self.runtime.persist(self._calls, newest, then)

    def _with_epoch(
        self, partition_id: int, after: PartitionRegistration | None, first: int
    ) -> PartitionRegistration | None:
        before = self.find(partition_id)
        if after is None or (before is not None and before.leader_epoch == after.leader_epoch):
            return after
        return after._replace(leader_epoch=max(after.leader_epoch, first))

    def on_changed(self, call: WhenChanged) -> None:
        self._when_changed.append(call)

    # ---- Aggregates

    def stage(self, key: int, changes: Sequence[RegistrationChange], done: Done) -> None:
        self._repository.save(changes)
        self._commits.when_committed(done)

    def decided(self, key: int, changes: Sequence[RegistrationChange]) -> None:
        for partition_id, after in changes:
            self._in_flight[partition_id] = key, after

    def committed(self, key: int, changes: Sequence[RegistrationChange]) -> None:
        self._landed(key, changes)
        self._apply(changes)

    def lost(self, key: int, changes: Sequence[RegistrationChange], first: bool) -> None:
        self._landed(key, changes)

    def _landed(self, key: int, changes: Sequence[RegistrationChange]) -> None:
        for partition_id, _ in changes:
            if self._in_flight.get(partition_id, (None,))[0] == key:
                del self._in_flight[partition_id]

    def _apply(self, changes: Sequence[RegistrationChange]) -> None:
        changed = []
        for partition_id, after in changes:
            before = self._durable.get(partition_id)
            if after is None:
                self._durable.pop(partition_id, None)
            else:
                self._durable[partition_id] = after
            if before != after:
                changed.append(Changed(partition_id, before, after))
        if changed:
            faults = notify_each(self._when_changed, lambda call: call(changed))
            if faults:
                raise faults[0]
