"""FakeMembership: brokers join, are fenced and come back, as tests say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from domain.cluster.nodes import BrokerRegistration, Node


class FakeMembers:
    """The brokers as the store has them."""

    def __init__(self) -> None:
        self.registered: dict[int, BrokerRegistration] = {}
        self.memberships: list[FakeMembership] = []
        #: They learn changes with the right to change shared rows, or when they come back.
        self.late: set[int] = set()
        #: A float has the first one only.
        self._sessions = count(1 << 61)

    def join(self, node: Node) -> None:
        """Also one that was fenced: it has a new session."""
        if self.is_fenced(node.node_id):
            for each in self.memberships:
                if each.node_id == node.node_id:
                    each.learn()  # first that it has lost the last one
                    each.when_new_session()
        self.registered[node.node_id] = BrokerRegistration(node, session_id=next(self._sessions))
        self.late.discard(node.node_id)
        self._changed()

    def register(self, node: Node) -> None:
        """It starts, and is not announced yet."""
        self.registered[node.node_id] = BrokerRegistration(node, True, "", next(self._sessions))
        self._changed()

    def announce(self, node: Node) -> None:
        if self.has_session(node.node_id):
            known = self.registered[node.node_id]
            self.registered[node.node_id] = known._replace(node=node, is_fenced=False)
            self._changed()

    def announce_stop(self, node_id: int) -> None:
        self.registered[node_id] = self.registered[node_id]._replace(is_stopping=True)
        self._changed()

    def fence(self, node_id: int) -> None:
        ended = self.registered[node_id]._replace(is_fenced=True, session_id=0)
        self.registered[node_id] = ended
        self._changed()

    def come_back(self, node_id: int) -> None:
        self.join(self.registered[node_id].node)

    def forget(self, node_id: int) -> None:
        del self.registered[node_id]
        self._changed()

    def return_to(self, registered: dict[int, BrokerRegistration]) -> None:
        """The store went back in time. With their next connections all brokers learn it."""
        self.registered = dict(registered)
        self.late.clear()
        self._changed()

    def is_fenced(self, node_id: int) -> bool:
        return node_id not in self.registered or self.registered[node_id].is_fenced

    def has_session(self, node_id: int) -> bool:
        """Its commits are not refused."""
        return self.session_id(node_id) > 0

    def session_id(self, node_id: int) -> int:
        """0: others have ended it, or the store went back to a time before it joined."""
        return self.registered[node_id].session_id if node_id in self.registered else 0

    def _changed(self) -> None:
        for each in list(self.memberships):
            if each.node_id not in self.late:
                each.learn()


class FakeMembership:
    """As one broker sees it."""

    def __init__(self, members: FakeMembers, node_id: int) -> None:
        self.node_id = node_id
        self._members = members
        self._known = dict(members.registered)
        self._when_changed: list[Callable[[], None]] = []
        self.when_new_session: Callable[[], None] = lambda: None
        #: To be forgotten when the next commit is done.
        self.unregistered: list[int] = []
        members.memberships.append(self)

    def brokers(self) -> Sequence[BrokerRegistration]:
        return [self._known[node_id] for node_id in sorted(self._known)]

    @property
    def has_lease(self) -> bool:
        return self._members.has_session(self.node_id)

    def lease_left_s(self, node_id: int) -> float:
        return 6.0 if self._members.has_session(node_id) else 0.0

    def on_changed(self, call: Callable[[], None]) -> None:
        self._when_changed.append(call)

    def announce(self, node: Node) -> None:
        self._members.announce(node)

    def announce_stop(self) -> None:
        self._members.announce_stop(self.node_id)

    def unregister(self, node_id: int) -> None:
        self.unregistered.append(node_id)

    def learn(self) -> None:
        if self._known != self._members.registered:
            self._known = dict(self._members.registered)
            for call in self._when_changed:
                call()

    def committed(self) -> None:
        unregistered, self.unregistered = self.unregistered, []
        for node_id in unregistered:
            self._members.forget(node_id)

    def end(self) -> None:
        """The process was killed: nothing reaches it any more."""
        self._members.memberships.remove(self)
