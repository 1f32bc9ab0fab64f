"""IncrementalAlterConfigs (key 44), versions 0-1 (KIP-339).

1  flexible
"""

from __future__ import annotations

from interfaces.kafka.handlers.shared.altered_configs import alter
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

#: Kafka's message for a resource without the right.
NOT_AUTHORIZED = "{} authorization failed."


def handle(request: IncrementalAlterConfigsRequest, call: Call) -> None:
    alter(
        request, call, IncrementalAlterConfigsResponse, AlterConfigsResourceResponse, replaces=False
    )
