"""IncrementalAlterConfigs (key 44), versions 0-1 (KIP-339).

1  flexible
"""

from __future__ import annotations

from interfaces.kafka.handlers.shared.wanted_configs import (
    Answers,
    AskedConfig,
    AskedResource,
    alter,
    told,
)
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


def handle(
    request: IncrementalAlterConfigsRequest, call: Call
) -> IncrementalAlterConfigsResponse | None:
    asked = [
        AskedResource(
            resource.resource_type,
            resource.resource_name,
            [
                AskedConfig(config.name, config.value, config.config_operation)
                for config in resource.configs
            ],
        )
        for resource in request.resources
    ]
    return alter(
        asked,
        call,
        lambda answers: _response(answers, call),
        validate_only=request.validate_only,
        replaces=False,
    )


def _response(answers: Answers, call: Call) -> IncrementalAlterConfigsResponse:
    responses = []
    for asked, answer in answers:
        code, message = told(answer, call)
        responses.append(
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=asked.kind,
                resource_name=asked.name,
            )
        )
    return IncrementalAlterConfigsResponse(responses=responses)


def failed(
    request: IncrementalAlterConfigsRequest, call: Call, code: int
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )
