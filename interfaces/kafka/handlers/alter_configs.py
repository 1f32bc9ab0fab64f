"""AlterConfigs (key 33), versions 0-2: what is not named is not set any more.

1  may answer with a throttling error (never does)        2  flexible
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
from interfaces.kafka.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

#: Each config that is named is set.
SET = 0


def handle(request: AlterConfigsRequest, call: Call) -> AlterConfigsResponse | None:
    asked = [
        AskedResource(
            resource.resource_type,
            resource.resource_name,
            [AskedConfig(config.name, config.value, SET) for config in resource.configs],
        )
        for resource in request.resources
    ]
    return alter(
        asked,
        call,
        lambda answers: _response(answers, call),
        validate_only=request.validate_only,
        replaces=True,
    )


def _response(answers: Answers, call: Call) -> AlterConfigsResponse:
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
    return AlterConfigsResponse(responses=responses)


def failed(request: AlterConfigsRequest, call: Call, code: int) -> AlterConfigsResponse:
    return AlterConfigsResponse(
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
