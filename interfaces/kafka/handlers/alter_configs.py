"""AlterConfigs (key 33), versions 0-2: what is not named is not set any more.

1  may answer with a throttling error (never does)        2  flexible
"""

from __future__ import annotations

from interfaces.kafka.handlers.shared.altered_configs import alter
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


def handle(request: AlterConfigsRequest, call: Call) -> None:
    alter(request, call, AlterConfigsResponse, AlterConfigsResourceResponse, replaces=True)
