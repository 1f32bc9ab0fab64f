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


class Resource(NamedTuple):
    kind: ResourceKind
    name: str


#: The dynamic configs of all brokers; those of one broker override them.
ALL_BROKERS = Resource(ResourceKind.BROKER, "")
