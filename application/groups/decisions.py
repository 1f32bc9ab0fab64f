"""Decisions: applies decisions about groups, and sends responses when their changes are durable.

Changes are applied at once, so that the next request is decided on the new state. A response leaves
when all changes up to its decision are durable: it never shows a state that a restart would undo.
If the changes cannot be persisted, the group is reloaded from the store, and all its pending
requests fail with CoordinatorNotAvailable; clients retry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from application.groups.group_log import GroupLog
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.pending import Pending, resolved
from domain.errors import BrokerError, StorageFailed
from domain.groups.classic.changes import Now
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.group import Changes, Group, GroupKind

#: Called for a group that has changed its kind, with the kind before.
Converted = Callable[[GroupKind, Group], None]


class Decisions:
    def __init__(self, groups: Groups, clock: Clock, log: GroupLog, converted: Converted) -> None:
        self._groups = groups
        self._clock = clock
        self._log = log
        self._converted = converted
        self._tokens = count(1)
        #: Pending requests by group and token, with their members.
        self.waiting: dict[str, dict[int, tuple[str, Pending[Any]]]] = {}

    def now(self) -> Now:
        return Now(self._clock.monotonic_ms(), self._clock.now_ms())

    def token(self) -> int:
        """Identifies a pending request whose response other requests decide."""
        return next(self._tokens)

    def wait(self, group_id: str, token: int, member_id: str) -> Pending[Any]:
        pending: Pending[Any] = Pending()
        self.waiting.setdefault(group_id, {})[token] = (member_id, pending)
        return pending

    def apply(self, group_id: str, changes: Changes) -> None:
        """Applies the changes, and persists those that are durable."""
        if not changes:
            return
        before = self._groups.find(group_id)
        present = ConsumerGroup(group_id) if before is None else before
        reason = self._log.members_changed(present, changes, self._clock.monotonic_ms())
        self._groups.apply(group_id, changes)
        after = self._groups.find(group_id)
        if after is None:
            return
        self._log.rebalance(after, changes, reason)
        if before is not None and before.kind is not after.kind:
            self._converted(before.kind, after)

    def respond(self, group_id: str, responses: Sequence[tuple[int, Any]]) -> None:
        """Sends responses by token, once all changes of the group by now are durable."""
        if not responses:
            return
        if group_id not in self._groups.runtime:
            self._resolve(group_id, responses)
            return

        def durable(failure: StorageFailed | None) -> None:
            if failure is None:
                self._resolve(group_id, responses, late=True)

        self._groups.runtime.when_durable(group_id, durable)

    def response(self, group_id: str, value: Any, member_id: str = "") -> Pending[Any]:
        """The response to a request that depends on no other request."""
        if group_id not in self._groups.runtime:
            return resolved(value)
        token = self.token()
        pending = self.wait(group_id, token, member_id)
        self.respond(group_id, ((token, value),))
        return pending

    def _resolve(
        self, group_id: str, responses: Sequence[tuple[int, Any]], late: bool = False
    ) -> None:
        waiting = self.waiting.get(group_id, {})
        group = self._groups.find(group_id) if late else None
        for token, response in responses:
            member_id, pending = waiting.pop(token, ("", None))
            if pending is None:
                continue
            if group is not None:
                group.responded_late(member_id, self._clock.monotonic_ms())
            pending.resolve(response)
        if not waiting:
            self.waiting.pop(group_id, None)

    def fail(self, group_id: str, error: BrokerError) -> None:
        """Fails all pending requests of the group."""
        for _, pending in self.waiting.pop(group_id, {}).values():
            pending.resolve(error)
