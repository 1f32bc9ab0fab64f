"""How this broker joins others over the same store, and at which addresses they find it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from application.broker import Broker
from application.ports.membership import Membership
from domain.cluster.nodes import Node
from domain.configs.broker import BrokerConfig
from infrastructure.storage.engine import Joining
from interfaces.embed import __version__
from interfaces.kafka.connections.listener import Listener
from interfaces.sockets import announced


def joining_of(config: BrokerConfig, fenced: Callable[[], None]) -> Joining:
    return Joining(
        Node(config.node_id, config.broker_rack),
        __version__,
        config.broker_session_timeout_ms,
        config.broker_heartbeat_interval_ms,
        fenced,
        config.storage_copies,
    )


def announce(membership: Membership, broker: Broker, listeners: Sequence[Listener]) -> None:
    """Now, and again when an altered setting has changed the addresses."""

    def at_these() -> None:
        membership.announce(_node_of(broker.config, listeners))

    broker.configs.of_broker.on_changed(at_these)
    at_these()


def _node_of(config: BrokerConfig, listeners: Sequence[Listener]) -> Node:
    addresses = {one.name: announced(one.advertised, one.bound) for one in listeners}
    return Node(config.node_id, config.broker_rack, addresses)
