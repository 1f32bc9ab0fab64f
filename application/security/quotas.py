"""Quotas: describes and alters them, and persists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from application.ports.cluster_changes import ClusterChanges
from application.ports.event_log import EventLog
from application.ports.pending import Pending
from application.ports.quota_repository import QuotaRepository
from application.ports.request_log import NO_CLIENT, REMEMBERED_CHARACTERS, Requester
from application.security.client_quotas import ClientQuotas
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
from domain.errors import BrokerError, InvalidRequest, PolicyViolation
from domain.security.quota import QuotaEntity, Quotas, altered, quota_entity, text_of_entity
from domain.security.quota_filter import QuotaFilter

#: As in Kafka: values that one request changes.
MAX_CHANGED = 10_000
#: Type -> name; None is the default.
Parts = Mapping[str, str | None]
Altered = QuotaEntity | BrokerError


class QuotaAlteration(NamedTuple):
    """A value that is None removes the quota."""

    parts: Parts
    ops: Sequence[tuple[str, float | None]]


class _Change(NamedTuple):
    entity: QuotaEntity
    before: Quotas
    after: Quotas

    def keys(self) -> list[str]:
        before, after = self.before, self.after
        return [key for key in {**before, **after} if before.get(key) != after.get(key)]


class QuotaService(Aggregates[QuotaEntity, Quotas]):
    def __init__(
        self,
        repository: QuotaRepository,
        limits: ClientQuotas,
        commits: Commits,
        changes: ClusterChanges,
        events: EventLog,
    ) -> None:
        """`limits` applies the quotas."""
        self._repository = repository
        self._limits = limits
        self._commits = commits
        self._changes = changes
        self._events = events
        self.runtime: Runtime[QuotaEntity, Quotas] = Runtime(self)
        self._limits.load(repository.load())
        repository.follow(self._limits.load)

    def describe(self, wanted: QuotaFilter) -> list[tuple[QuotaEntity, Quotas]]:
        return [(one, quotas) for one, quotas in self._limits.quotas.items() if wanted.fits(one)]

    def alter(
        self,
        alterations: Sequence[QuotaAlteration],
        validate_only: bool,
        by: Requester = NO_CLIENT,
    ) -> list[Altered] | Pending[list[Altered]]:
        """One result per entity, in order of their first alteration, once all are durable.

        If an entity is altered twice, only the first alteration has an effect, as in Kafka.
        May raise NotInMemory (`ClusterChanges.check`).
        """
        if alterations and not validate_only:
            self._changes.check()
        results: dict[frozenset[tuple[str, str | None]], Altered] = {}
        keys: dict[frozenset[tuple[str, str | None]], AggregateKey] = {}
        changes: list[_Change] = []
        for one in alterations:
            identity = frozenset(one.parts.items())
            ops = dict(one.ops)
            if identity in results or len(ops) < len(one.ops):
                text = text_of_entity(one.parts)
                results[identity] = InvalidRequest(f"Ignoring duplicate entity {text}")
            else:
                results[identity] = self._decide(one.parts, ops, changes)
            found = results[identity]
            keys.setdefault(identity, (self.runtime, found))
        if sum(len(change.keys()) for change in changes) > MAX_CHANGED:
            excessive = PolicyViolation("Request parameters do not satisfy the configured policy.")
            return [excessive for _ in results]
        if not validate_only:
            for change in changes:
                self._save(change.entity, change.after, if_durable(partial(self._log, change, by)))
        return respond(list(keys.values()), list(results.values()))

    def _decide(
        self, parts: Parts, ops: Mapping[str, float | None], changes: list[_Change]
    ) -> Altered:
        try:
            entity = quota_entity(parts)
            before = self._newest(entity)
            quotas = altered(entity, before, ops)
        except BrokerError as refused:
            return refused.as_value()
        if quotas != before:
            changes.append(_Change(entity, before, quotas))
        return entity

    def remove_all(self) -> list[AggregateKey]:
        removed = {*self._limits.quotas, *self.runtime.keys()}
        for entity in removed:
            self._save(entity, {}, ignore)
        return [(self.runtime, entity) for entity in removed]

    def _newest(self, entity: QuotaEntity) -> Quotas:
        newest = self.runtime.newest(entity)
        return self._limits.quotas.get(entity, {}) if newest is None else newest

    def _save(self, entity: QuotaEntity, quotas: Quotas, then: Done) -> None:
        self.runtime.persist(entity, (quotas,), then)

    def _log(self, change: _Change, by: Requester) -> None:
        changed = [f"{key}={change.after.get(key, 'removed')}" for key in sorted(change.keys())]
        names = [
            f"{kind}={(name or '<default>')[:REMEMBERED_CHARACTERS]}"
            for kind, name in change.entity.parts()
        ]
        self._events.info("quotas_altered", entity=names, quotas=changed, **by.fields())

    # ---- Aggregates

    def stage(self, key: QuotaEntity, changes: Sequence[Quotas], done: Done) -> None:
        for quotas in changes:
            self._repository.save(key, quotas)
        self._commits.when_committed(done)

    def committed(self, key: QuotaEntity, changes: Sequence[Quotas]) -> None:
        for quotas in changes:
            self._limits.put(key, quotas)
