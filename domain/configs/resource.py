"""Resource: what has configs, by kind and name."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class ResourceKind(Enum):
    TOPIC = "topic"
    BROKER = "broker"
    BROKER_LOGGER = "broker_logger"
    CLIENT_METRICS = "client_metrics"
    GROUP = "group"


#: Kafka's numbers for them.
RESOURCE_KINDS: dict[int, ResourceKind] = {
    2: ResourceKind.TOPIC,
    4: ResourceKind.BROKER,
    8: ResourceKind.BROKER_LOGGER,
    16: ResourceKind.CLIENT_METRICS,
    32: ResourceKind.GROUP,
}
RESOURCE_NUMBERS = {kind: number for number, kind in RESOURCE_KINDS.items()}


class Resource(NamedTuple):
    kind: ResourceKind
    name: str


#: The dynamic configs of all brokers; those of one broker override them.
ALL_BROKERS = Resource(ResourceKind.BROKER, "")
