"""Users: the SCRAM credentials of users, and how they are described and altered (KIP-554)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from application.ports.cluster_changes import ClusterChanges
from application.ports.event_log import EventLog
from application.ports.pending import Pending
from application.ports.request_log import NO_CLIENT, Requester
from application.ports.user_repository import UserRepository
from application.state.commits import Commits
from application.state.runtime import (
    AggregateKey,
    Aggregates,
    Done,
    Runtime,
    if_durable,
    ignore,
    respond,
)
from domain.errors import BrokerError, DuplicateResource, ResourceNotFound
from domain.security.errors import UnacceptableCredential, UnsupportedSaslMechanism
from domain.security.scram import (
    MAX_ITERATIONS,
    MIN_ITERATIONS,
    Credentials,
    Decoys,
    ScramCredential,
    ScramMechanism,
)

NONE: Credentials = {}


class Deletion(NamedTuple):
    user: str
    #: None: the client sent a mechanism that does not exist.
    mechanism: ScramMechanism | None


class Upsertion:
    """No repr shows the salted password."""

    __slots__ = ("iterations", "mechanism", "salt", "salted_password", "user")

    def __init__(
        self,
        user: str,
        mechanism: ScramMechanism | None,
        iterations: int,
        salt: bytes,
        salted_password: bytes,
    ) -> None:
        self.user = user
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password


#: None: success.
Altered = BrokerError | None


class Users(Aggregates[str, Credentials]):
    def __init__(
        self,
        repository: UserRepository,
        decoys: Decoys,
        commits: Commits,
        changes: ClusterChanges,
        events: EventLog,
    ) -> None:
        self._repository = repository
        self._decoys = decoys
        self._commits = commits
        self._changes = changes
        self._events = events
        self._credentials: dict[str, Credentials] = repository.load()
        self.runtime: Runtime[str, Credentials] = Runtime(self)
        #: Rises with every change, for caches of verified passwords.
        self.revision = 0
        repository.follow(self._followed)

    def _followed(self, altered: Mapping[str, Credentials]) -> None:
        """Another broker has altered these users."""
        for name, credentials in altered.items():
            self.committed(name, [credentials])

    # ---- reading

    def __len__(self) -> int:
        return len(self._credentials)

    def credentials(self, name: str) -> Credentials:
        """Another mapping after every change of the user."""
        return self._credentials.get(name, NONE)

    def find(self, name: str, mechanism: ScramMechanism) -> ScramCredential:
        """For an unknown user one that no password matches."""
        decoy = self._decoys.credential(name, mechanism)
        return self.credentials(name).get(mechanism, decoy)

    def all_of(self, name: str) -> list[ScramCredential]:
        """One of each mechanism, to verify a password itself."""
        return [self.find(name, mechanism) for mechanism in ScramMechanism]

    def describe(self, names: Sequence[str] | None) -> dict[str, Credentials | BrokerError]:
        """Without names all users, by name."""
        if not names:
            return dict(sorted(self._credentials.items()))
        return {name: self._described(name, names.count(name)) for name in dict.fromkeys(names)}

    def _described(self, name: str, times: int) -> Credentials | BrokerError:
        if times > 1:
            return DuplicateResource(
                "Cannot describe SCRAM credentials for the same user twice in a single request: "
                + name
            )
        if name not in self._credentials:
            return ResourceNotFound(
                f"Attempt to describe a user credential that does not exist: {name}"
            )
        return self._credentials[name]

    # ---- altering

    def alter(
        self,
        deletions: Sequence[Deletion],
        upsertions: Sequence[Upsertion],
        by: Requester = NO_CLIENT,
    ) -> Mapping[str, Altered] | Pending[Mapping[str, Altered]]:
        """One result per user, once all changes are durable.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        if deletions or upsertions:
            self._changes.check()
        return self._alter([*deletions, *upsertions], by)

    def alter_in_turn(
        self, alterations: Sequence[Deletion | Upsertion], by: Requester = NO_CLIENT
    ) -> list[Mapping[str, Altered] | Pending[Mapping[str, Altered]]]:
        """As a request for each: one may alter a user once. They share the commit."""
        if alterations:
            self._changes.check()
        return [self._alter([one], by) for one in alterations]

    def _alter(
        self, alterations: Sequence[Deletion | Upsertion], by: Requester
    ) -> Mapping[str, Altered] | Pending[Mapping[str, Altered]]:
        results: dict[str, Altered] = {}
        accepted: dict[str, Deletion | Upsertion] = {}
        for one in alterations:
            if results.get(one.user) is None:
                results[one.user] = self._refusal(one, one.user in accepted)
                accepted[one.user] = one
        for user, alteration in accepted.items():
            if results[user] is None:
                self._save(alteration, by)
        names = list(results)
        responses = respond([(self.runtime, name) for name in names], list(results.values()))
        if isinstance(responses, Pending):
            return responses.map(lambda values: dict(zip(names, values, strict=True)))
        return results

    def remove_all(self, but: Collection[str]) -> list[AggregateKey]:
        removed = {*self._credentials, *self.runtime.keys()} - {*but}
        for name in removed:
            self.runtime.persist(name, (NONE,), ignore)
        return [(self.runtime, name) for name in removed]

    def _refusal(self, alteration: Deletion | Upsertion, again: bool) -> BrokerError | None:
        if again:
            return DuplicateResource(
                "A user credential cannot be altered twice in the same request"
            )
        if not alteration.user:
            return UnacceptableCredential("Username must not be empty")
        if alteration.mechanism is None:
            return UnsupportedSaslMechanism("Unknown SCRAM mechanism")
        if isinstance(alteration, Deletion):
            if alteration.mechanism not in self._newest(alteration.user):
                return ResourceNotFound("Attempt to delete a user credential that does not exist")
            return None
        if alteration.iterations < MIN_ITERATIONS:
            return UnacceptableCredential("Too few iterations")
        if alteration.iterations > MAX_ITERATIONS:
            return UnacceptableCredential("Too many iterations")
        if not alteration.salted_password:
            return UnacceptableCredential("The salted password must not be empty")
        return None

    def _save(self, alteration: Deletion | Upsertion, by: Requester) -> None:
        user, mechanism = alteration.user, alteration.mechanism
        assert mechanism is not None
        credentials = dict(self._newest(user))
        if isinstance(alteration, Deletion):
            del credentials[mechanism]
        else:
            credentials[mechanism] = ScramCredential.of_salted_password(
                mechanism, alteration.iterations, alteration.salt, alteration.salted_password
            )
        action = "deleted" if isinstance(alteration, Deletion) else "set"

        def log() -> None:
            fields = {"user": user, "mechanism": mechanism.sasl_name, "action": action}
            self._events.info("user_credential_altered", **fields, **by.fields())

        self.runtime.persist(user, (credentials,), if_durable(log))

    def _newest(self, name: str) -> Credentials:
        newest = self.runtime.newest(name)
        return self.credentials(name) if newest is None else newest

    # ---- Aggregates

    def stage(self, key: str, changes: Sequence[Credentials], done: Done) -> None:
        for credentials in changes:
            self._repository.save(key, credentials)
        self._commits.when_committed(done)

    def committed(self, key: str, changes: Sequence[Credentials]) -> None:
        self.revision += 1
        if changes[-1]:
            self._credentials[key] = changes[-1]
        else:
            self._credentials.pop(key, None)
