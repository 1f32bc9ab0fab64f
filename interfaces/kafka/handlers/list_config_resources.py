"""ListConfigResources (key 74), versions 0-1 (KIP-714, KIP-1142).

0  client metrics resources only (there are none)
1  any resource types; an empty list means all
"""

from __future__ import annotations

from domain.configs.resource import RESOURCE_KINDS, RESOURCE_NUMBERS, ResourceKind
from domain.errors import UnsupportedVersion
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

FIRST_WITH_TYPES = 1


def handle(request: ListConfigResourcesRequest, call: Call) -> ListConfigResourcesResponse:
    requested = request.resource_types
    if call.version < FIRST_WITH_TYPES:
        kinds = [ResourceKind.CLIENT_METRICS]
    elif not requested:
        kinds = list(RESOURCE_NUMBERS)
    elif any(number not in RESOURCE_KINDS for number in requested):
        raise UnsupportedVersion
    else:
        kinds = [RESOURCE_KINDS[number] for number in requested]
    return ListConfigResourcesResponse(
        error_code=0,
        config_resources=[
            ConfigResource(
                resource_name=resource.name, resource_type=RESOURCE_NUMBERS[resource.kind]
            )
            for resource in call.broker.configs.describe_configs.resources(kinds)
        ],
    )
