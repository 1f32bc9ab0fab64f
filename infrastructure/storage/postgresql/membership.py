"""PostgresMembership: what this broker knows of the others, on the loop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf
from time import monotonic

from application.state.notifying import notify_each
from domain.cluster.nodes import BrokerRegistration, Node
from infrastructure.storage.engine import Joining
from infrastructure.storage.postgresql.contents import Contents


class PostgresMembership:
    def __init__(self, joining: Joining, contents: Contents, wake: Callable[[], None]) -> None:
        """`wake`: the thread that announces this broker."""
        self.node_id = joining.node.node_id
        self._software = joining.software
        self._contents = contents
        self._wake = wake
        self._announced: BrokerRegistration | None = None
        #: The thread sets it, too.
        self.is_announced = True
        self._brokers: list[BrokerRegistration] = []
        #: By the clock of this process.
        self.lease_until = 0.0
        self._leases_until: Mapping[int, float] = {}
        #: When the loop has last heard of the brokers; before that it may not run yet.
        self.seen_at = inf
        self._when_changed: list[Callable[[], None]] = []

    def brokers(self) -> Sequence[BrokerRegistration]:
        return self._brokers

    @property
    def has_lease(self) -> bool:
        return self.lease_until > monotonic()

    def lease_left_s(self, node_id: int) -> float:
        is_own = node_id == self.node_id
        until = self.lease_until if is_own else self._leases_until.get(node_id, 0.0)
        return max(0.0, until - monotonic())

    def on_changed(self, call: Callable[[], None]) -> None:
        self._when_changed.append(call)

    def announce(self, node: Node) -> None:
        before = self._announced or BrokerRegistration(node, software=self._software)
        self._change(before._replace(node=node))

    def announce_stop(self) -> None:
        if self._announced is not None:
            self._change(self._announced._replace(is_stopping=True))

    def _change(self, announced: BrokerRegistration) -> None:
        if announced != self._announced:
            self._announced = announced
            self.is_announced = False
            self._wake()

    def to_announce(self) -> BrokerRegistration | None:
        """From the thread."""
        if self.is_announced:
            return None
        self.is_announced = True  # first: the loop may change it again
        return self._announced

    def unregister(self, node_id: int) -> None:
        self._contents.staged.unregistered.append(node_id)

    def goes_on(self) -> None:
        """The loop runs."""
        self.seen_at = monotonic()

    def seen(
        self,
        brokers: list[BrokerRegistration],
        lease_until: float,
        leases_until: Mapping[int, float],
    ) -> None:
        """`leases_until`: of other brokers."""
        self.goes_on()
        self.lease_until = max(self.lease_until, lease_until)
        self._leases_until = leases_until
        self._replace(brokers)

    def forget(self, node_ids: Collection[int]) -> None:
        """They are unregistered: the next look at the rows is up to a heartbeat later."""
        self._replace([one for one in self._brokers if one.node.node_id not in node_ids])

    def _replace(self, brokers: list[BrokerRegistration]) -> None:
        if brokers != self._brokers:
            self._brokers = brokers
            faults = notify_each(self._when_changed, lambda call: call())
            if faults:
                raise faults[0]
