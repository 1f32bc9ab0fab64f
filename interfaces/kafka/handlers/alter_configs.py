"""AlterConfigs (key 33), versions 0-2. Configs that the request does not name are reset to their
defaults.

1  THROTTLING_QUOTA_EXCEEDED (not used)        2  flexible
"""

from __future__ import annotations

from interfaces.kafka.handlers.shared.altered_configs import alter
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

#: Kafka's message for a resource without the right.
NOT_AUTHORIZED = "{} authorization failed."


def handle(request: AlterConfigsRequest, call: Call) -> None:
    alter(request, call, AlterConfigsResponse, AlterConfigsResourceResponse, replaces=True)
