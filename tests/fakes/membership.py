"""FakeMembership: brokers join, are fenced and come back, as tests say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.cluster.nodes import BrokerRegistration, Node


class FakeMembers:
    """The brokers as all of them see it, at once."""

    def __init__(self) -> None:
        self.registered: dict[int, BrokerRegistration] = {}
        self._when_changed: list[Callable[[], None]] = []

    def join(self, node: Node) -> None:
        """Also one that was fenced."""
        self.registered[node.node_id] = BrokerRegistration(node)
        self.changed()

    def fence(self, node_id: int) -> None:
        self.registered[node_id] = self.registered[node_id]._replace(is_fenced=True)
        self.changed()

    def come_back(self, node_id: int) -> None:
        self.join(self.registered[node_id].node)

    def is_fenced(self, node_id: int) -> bool:
        return node_id not in self.registered or self.registered[node_id].is_fenced

    def changed(self) -> None:
        for call in self._when_changed:
            call()

    def on_changed(self, call: Callable[[], None]) -> None:
        self._when_changed.append(call)


class FakeMembership:
    """Of one broker."""

    def __init__(self, members: FakeMembers, node_id: int) -> None:
        self.node_id = node_id
        self._members = members
        self._is_over = False
        #: To be forgotten when the next commit is done.
        self.unregistered: list[int] = []

    def brokers(self) -> Sequence[BrokerRegistration]:
        registered = self._members.registered
        return [registered[node_id] for node_id in sorted(registered)]

    @property
    def has_lease(self) -> bool:
        return not self._members.is_fenced(self.node_id)

    def on_changed(self, call: Callable[[], None]) -> None:
        self._members.on_changed(lambda: None if self._is_over else call())

    def unregister(self, node_id: int) -> None:
        self.unregistered.append(node_id)

    def committed(self) -> None:
        unregistered, self.unregistered = self.unregistered, []
        for node_id in unregistered:
            del self._members.registered[node_id]
            self._members.changed()

    def end(self) -> None:
        """The process was killed: nothing reaches it any more."""
        self._is_over = True
