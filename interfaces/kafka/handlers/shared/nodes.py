"""The nodes of the cluster, with the addresses for the client's listener."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from domain.cluster.nodes import Address, Node
from interfaces.kafka.requests.call import Call


class Endpoint(Protocol):
    node_id: int


E = TypeVar("E", bound=Endpoint)


def nodes_for(call: Call) -> Iterator[tuple[Node, Address]]:
    placement = call.broker.placement
    nodes = placement.nodes()
    if all(node.node_id != placement.node_id for node in nodes):
        # Others do not see it yet. Without it librdkafka would have no broker to ask again.
        nodes = [*nodes, Node(placement.node_id, call.broker.config.broker_rack)]
    return addressed(nodes, call)


def addressed(nodes: Iterable[Node], call: Call) -> Iterator[tuple[Node, Address]]:
    """As in Kafka, without brokers that do not have the client's listener."""
    nodes = list(nodes)
    is_alone = all(node.node_id == call.broker.placement.node_id for node in nodes)
    for node in nodes:
        address = _address_of(node, call, is_alone)
        if address is not None:
            yield node, address


def _address_of(node: Node, call: Call, is_alone: bool) -> Address | None:
    """The address of this broker is the advertised one, or the one that the client connected to.
    Beside others it is what these say: librdkafka drops requests to a broker whose address changes.
    """
    peer = call.peer
    announced = node.addresses.get(peer.client.listener)
    if node.node_id == call.broker.placement.node_id and (is_alone or announced is None):
        return peer.advertised
    return announced


def node_of(node_id: int, call: Call) -> tuple[Node, Address] | None:
    """None if the node is not alive."""
    return next((found for found in nodes_for(call) if found[0].node_id == node_id), None)


def add_endpoint(endpoints: list[E], endpoint: Callable[..., E], node_id: int, call: Call) -> None:
    """Adds the address of a leader, which saves the client a Metadata request (KIP-951)."""
    found = node_of(node_id, call)
    if found is not None and all(one.node_id != node_id for one in endpoints):
        node, (host, port) = found
        endpoints.append(endpoint(node_id=node_id, host=host, port=port, rack=node.rack))
