"""AclService: creates, describes and deletes ACLs, durably."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from application.ports.acl_repository import AclRepository
from application.ports.cluster_changes import ClusterChanges
from application.ports.pending import Pending
from application.security.acl_authorizer import AclAuthorizer
from application.state.commits import Commits
from application.state.runtime import AggregateKey, Aggregates, Done, Runtime, ignore, respond
from domain.errors import BrokerError, InvalidRequest, PolicyViolation
from domain.security.access import Operation, ResourceType
from domain.security.acl import AclBinding, AclFilter, check_new
from domain.security.principal import Principal

#: As in Kafka: of one request.
MAX_CREATED = MAX_DELETED = 10_000
#: All ACLs are one aggregate: those of a request change together.
_ACLS = "acls"

R = TypeVar("R")


class AclChange(NamedTuple):
    binding: AclBinding
    exists: bool


class AclState(Aggregates[str, AclChange]):
    def __init__(
        self,
        repository: AclRepository,
        authorizer: AclAuthorizer,
        commits: Commits,
        changes: ClusterChanges,
    ) -> None:
        self._repository = repository
        self._authorizer = authorizer
        self._commits = commits
        self.changes = changes
        self.index = authorizer.index
        self.index.add(repository.load())
        self._runtime: Runtime[str, AclChange] = Runtime(self)
        repository.follow(self._followed)

    def _followed(self, bindings: list[AclBinding]) -> None:
        """Another broker has created or deleted some; these are all."""
        for gone in set(self.index) - set(bindings):
            self.index.remove(gone)
        self.index.add(bindings)
        self._authorizer.changed()

    def newest(self) -> dict[AclBinding, bool]:
        """The changes in flight."""
        return {
            binding: exists
            for changes in self._runtime.in_flight(_ACLS)
            for binding, exists in changes
        }

    def existing(self) -> list[AclBinding]:
        """After the changes in flight."""
        newest = self.newest()
        existing = [one for one in self.index if newest.get(one, True)]
        return existing + [
            one for one, exists in newest.items() if exists and one not in self.index
        ]

    def remove_all(self) -> list[AggregateKey]:
        self.put(self.existing(), False)
        return [(self._runtime, _ACLS)]

    def put(self, bindings: Iterable[AclBinding], exists: bool) -> None:
        changes = [AclChange(binding, exists) for binding in bindings]
        if changes:
            self._runtime.persist(_ACLS, changes, ignore)

    def respond(self, results: list[R | BrokerError]) -> Pending[list[R | BrokerError]]:
        """When all changes in flight are durable; if they are lost, each result is the failure."""
        responded = respond([(self._runtime, _ACLS)] * len(results), results)
        if isinstance(responded, Pending):
            return responded
        pending: Pending[list[R | BrokerError]] = Pending()
        pending.resolve(responded)
        return pending

    # ---- Aggregates

    def stage(self, key: str, changes: Sequence[AclChange], done: Done) -> None:
        for binding, exists in changes:
            self._repository.save(binding, exists)
        self._commits.when_committed(done)

    def committed(self, key: str, changes: Sequence[AclChange]) -> None:
        self.index.add(binding for binding, exists in changes if exists)
        for binding, exists in changes:
            if not exists:
                self.index.remove(binding)
        self._authorizer.changed()


class AclService:
    def __init__(self, state: AclState) -> None:
        self._state = state

    def __len__(self) -> int:
        return len(self._state.index)

    def find(self, matching: AclFilter) -> list[AclBinding]:
        return self._state.index.find(matching)

    def decide(
        self,
        principal: Principal,
        host: str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> tuple[bool, AclBinding | None]:
        """With the ACL that decides, if one does."""
        return self._state.index.decide(principal, host, operation, resource_type, name)

    def create(
        self, bindings: Sequence[AclBinding | BrokerError]
    ) -> Pending[list[BrokerError | None]]:
        """An ACL that exists already is a success.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        state = self._state
        if bindings:
            state.changes.check()
        newest = state.newest()
        created: dict[AclBinding, None] = {}
        results: list[BrokerError | None] = []
        for binding in bindings:
            error = _error_of(binding)
            results.append(error)
            if isinstance(binding, BrokerError) or error is not None:
                continue
            if not newest.get(binding, binding in state.index):
                created[binding] = None
        if len(created) > MAX_CREATED:
            results = [PolicyViolation("Unable to perform excessively large batch operation.")]
            return state.respond(results * len(bindings))
        state.put(created, True)
        return state.respond(results)

    def delete(
        self, filters: Sequence[AclFilter | BrokerError]
    ) -> Pending[list[list[AclBinding] | BrokerError]]:
        """May raise NotInMemory (`ClusterChanges.check`)."""
        state = self._state
        if filters:
            state.changes.check()
        existing = state.existing()
        results: list[list[AclBinding] | BrokerError] = [
            each
            if isinstance(each, BrokerError)
            else [one for one in existing if each.matches(one)]
            for each in filters
        ]
        deleted = {one: None for found in results if isinstance(found, list) for one in found}
        if len(deleted) > MAX_DELETED:
            raise InvalidRequest(
                f"Cannot remove more than {MAX_DELETED} acls in a single delete operation."
            )
        state.put(deleted, False)
        return state.respond(results)

    def remove_all(self) -> list[AggregateKey]:
        return self._state.remove_all()


def _error_of(binding: AclBinding | BrokerError) -> BrokerError | None:
    if isinstance(binding, BrokerError):
        return binding
    try:
        check_new(binding)
    except InvalidRequest as refused:
        return refused
    return None
