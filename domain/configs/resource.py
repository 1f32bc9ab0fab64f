"""What has configs: a resource, by its kind and its name."""

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


#: The configs of all brokers, over which those of one broker go.
ALL_BROKERS = Resource(ResourceKind.BROKER, "")
