"""The cluster: its metadata quorum, and the registration of its brokers."""

from __future__ import annotations

from application.ports.clock import Clock
from application.ports.placement import Placement
from domain.errors import BrokerIdNotRegistered, InvalidRequest


class ClusterService:
    def __init__(self, placement: Placement, clock: Clock) -> None:
        self._placement = placement
        self._clock = clock

    def caught_up(self) -> tuple[int, int]:
        """The only voter, this broker, and the time: its metadata is always up to date."""
        return self._placement.node_id, self._clock.now_ms()

    def unregister(self, broker_id: int) -> None:
        """Raises: every broker of the cluster is alive.

        Kafka unregisters a live broker too, and then no client finds it.
        """
        if any(node.node_id == broker_id for node in self._placement.nodes()):
            raise InvalidRequest(f"Broker ID {broker_id} is alive: stop it first")
        raise BrokerIdNotRegistered(f"Broker ID {broker_id} is not currently registered")
