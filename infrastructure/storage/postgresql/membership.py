"""PostgresMembership: what this broker knows of the others, on the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from application.state.notifying import notify_each
from domain.cluster.nodes import BrokerRegistration, Node
from infrastructure.storage.postgresql.contents import Contents


class PostgresMembership:
    def __init__(self, node_id: int, contents: Contents, announce: Callable[[Node], None]) -> None:
        self.node_id = node_id
        self._contents = contents
        self._announce = announce
        self._brokers: list[BrokerRegistration] = []
        #: By the clock of this process.
        self.lease_until = 0.0
        self._when_changed: list[Callable[[], None]] = []

    def brokers(self) -> Sequence[BrokerRegistration]:
        return self._brokers

    @property
    def has_lease(self) -> bool:
        return self.lease_left_s > 0

    @property
    def lease_left_s(self) -> float:
        return max(0.0, self.lease_until - monotonic())

    def on_changed(self, call: Callable[[], None]) -> None:
        self._when_changed.append(call)

    def announce(self, node: Node) -> None:
        self._announce(node)

    def unregister(self, node_id: int) -> None:
        self._contents.staged.unregistered.append(node_id)

    def seen(self, brokers: list[BrokerRegistration], lease_until: float) -> None:
        self.lease_until = max(self.lease_until, lease_until)
        # It begins before it is announced to others, and ends when they fence it.
        brokers = [
            one._replace(is_fenced=False) if one.node.node_id == self.node_id else one
            for one in brokers
        ]
        if brokers != self._brokers:
            self._brokers = brokers
            faults = notify_each(self._when_changed, lambda call: call())
            if faults:
                raise faults[0]
