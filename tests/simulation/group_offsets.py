"""Clients that commit offsets of groups, without membership, at the coordinator they find.

Each group has one request in flight, and its offsets rise: at the end a group has the one that was
acknowledged last, or a later one that was sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakes.client import FakeClient
from tests.fakes.offset_requests import at, commit_codes, offset_commit
from tests.fakes.shared_store import SharedBroker
from tests.simulation.acknowledged import Acknowledged
from tests.simulation.model import Violation

if TYPE_CHECKING:
    from tests.simulation.several_brokers import SeveralBrokers

GROUPS = ("a", "b", "c")
#: Of coordinators that move, and KAFKA_STORAGE_ERROR as offset commits have it.
AGAIN = {14, 15, 16, -1}
#: Steps until a response is taken as lost.
PATIENCE = 30
VERSION = 9


class GroupOffsets:
    def __init__(self, world: SeveralBrokers) -> None:
        self._world = world
        self.acknowledged = Acknowledged()
        self._sent = 0
        self._pending: dict[str, tuple[SharedBroker, FakeClient, int, int]] = {}

    def step(self) -> None:
        group_id = self._world.random.choice(GROUPS)
        if group_id in self._pending:
            self._receive(group_id)
            return
        brokers = self._world.store.brokers
        asked = self._world.random.choice(list(brokers.values()))
        broker = brokers.get(asked.broker.groups.coordinators.node_id(group_id))
        if broker is not None:
            client = broker.client()
            self._sent += 1
            client.send(offset_commit(group_id, ("t", [at(0, self._sent)])), VERSION)
            self._pending[group_id] = broker, client, self._sent, PATIENCE

    def _receive(self, group_id: str) -> None:
        broker, client, offset, left = self._pending.pop(group_id)
        responses = client.responses()
        if not responses:
            if left and self._world.store.brokers.get(broker.config.node_id) is broker:
                self._pending[group_id] = broker, client, offset, left - 1
            return
        [[(_, code)]] = commit_codes(responses[0], VERSION).values()
        if not code:
            self.acknowledged.add(broker, (group_id, offset), group_id)
        elif code not in AGAIN:
            raise Violation(f"{group_id} may not commit: {code}")

    def went_back(self) -> None:
        """Responses that are not read yet may be lost."""
        self._pending.clear()
        self.acknowledged.went_back()

    def check(self) -> None:
        for group_id in GROUPS:
            of_group = (at for one, at in self.acknowledged.values if one == group_id)
            acknowledged = max(of_group, default=0)
            found = self._world.offsets_of(group_id)
            offset = max((one.offset for one in found), default=0)
            if not acknowledged <= offset <= self._sent:
                raise Violation(f"{group_id} has offset {offset}, not {acknowledged}")
